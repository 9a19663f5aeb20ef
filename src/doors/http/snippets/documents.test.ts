import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { API_CODES } from '../../../services/snippets/problem-codes.ts'
import { codesPage } from './codes-page.ts'
import { API_OPERATIONS } from './operations.ts'
import { snippetsGrid } from './snippets.fixture.ts'

test('docs/guide/api-codes.md equals the table of codes', async () => {
  await expect(codesPage()).toMatchFileSnapshot(join(import.meta.dirname, '../../../../docs/guide/api-codes.md'))
})

test('every code begins with its HTTP status, and is unique', () => {
  const codes = Object.values(API_CODES).filter(({ code }) => code !== 0)
  for (const { code, status } of codes) expect(Math.floor(code / 100)).toBe(status)
  expect(new Set(codes.map(({ code }) => code)).size).toBe(codes.length)
})

test('the OpenAPI document lists exactly the routes of the door', async () => {
  const { app } = await snippetsGrid()
  const routes = app.routes
    .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api/v1/') && !path.endsWith('openapi.json'))
    .map(({ method, path }) => `${method} ${path.replace('{.+}', '').replaceAll(/:(\w+)/g, '{$1}')}`)
  const told = API_OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect([...new Set(routes)].sort()).toEqual([...told].sort())
})

test('the document is valid OpenAPI 3.1, and describes the body of a task', async () => {
  const { app } = await snippetsGrid()
  const response = await app.request('/api/v1/openapi.json')
  const text = await response.text()
  const form = z.object({
    openapi: z.literal('3.1.0'),
    info: z.object({ title: z.string(), version: z.literal('1.2.3') }),
    paths: z.record(
      z.string().startsWith('/api/v1/'),
      z.record(
        z.string(),
        z.object({ operationId: z.string(), responses: z.record(z.string(), z.object({ description: z.string() })) }),
      ),
    ),
  })
  form.parse(JSON.parse(text))
  const { paths } = JSON.parse(text)
  const body = paths['/api/v1/tasks'].post.requestBody.content['application/json'].schema
  expect(body).toMatchObject({ type: 'object', required: ['language'], additionalProperties: false })
  expect(body.properties.resourceLimit.properties.timeout).toMatchObject({
    type: 'string',
    pattern: expect.any(String),
  })
  expect(text).not.toContain('"$schema"')
})

test('the HTML page loads nothing from elsewhere, and runs no script', async () => {
  const { app } = await snippetsGrid()
  const response = await app.request('/api')
  const html = await response.text()
  expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'.*style-src 'sha256-/)
  expect(html).not.toMatch(/<script|src=|https?:\/\//)
  for (const { path } of API_OPERATIONS) expect(html).toContain(`<code>${path}</code>`)
})
