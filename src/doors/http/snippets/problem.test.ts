import { expect, test } from 'vitest'
import { silentLog } from '../../../base/log.ts'
import { httpDoor } from '../server/http-door.ts'
import { snippetError } from './problem.ts'

const app = httpDoor({
  errorShapes: [snippetError],
  readiness: () => ({ ready: true, reasons: [] }),
  metricsText: async () => '',
  metricsContentType: 'text/plain',
  allowedHosts: [],
  allowedOrigins: [],
  version: '1.2.3',
  log: silentLog,
  maxBodyBytes: 100,
})
app.post('/api/v1/tasks', (c) => c.json({ code: 0 }))
app.post('/api/v1/workers', (c) => c.json({}))

const post = async (path: string, headers: Record<string, string>) => {
  const answer = await app.request(`http://localhost${path}`, {
    method: 'POST',
    headers: { host: 'localhost', ...headers },
    body: 'x',
  })
  return [answer.status, await answer.json()]
}

test.each([
  [{ 'content-type': 'text/plain' }, 415, 41501],
  [{ 'content-type': 'application/json', 'content-length': '101' }, 413, 41301],
  [{ 'content-type': 'application/json', origin: 'https://evil.example' }, 403, 40301],
])('a refusal before the routes has the error shape of the code API: %o', async (headers, status, code) => {
  expect(await post('/api/v1/tasks', headers)).toEqual([
    status,
    { code, message: expect.any(String), detail: expect.any(String) },
  ])
})

test('a refusal on the path of another door has the default error shape', async () => {
  const [status, body] = await post('/api/v1/workers', { 'content-type': 'text/plain' })
  expect([status, body]).toEqual([415, { error: { kind: 'invalid', message: expect.any(String) } }])
})
