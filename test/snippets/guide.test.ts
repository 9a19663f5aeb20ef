import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { API_OPERATIONS } from '../../src/doors/http/snippets/operations.ts'
import { taskBody } from '../../src/doors/http/snippets/task-body.ts'
import { describeWith } from '../../src/testing/require.ts'
import { codeServer, codeWorker, offering, ownFolder } from './code-grid.ts'

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guide/code.md'), 'utf8')

describeWith(['bwrap', 'curl'], 'the snippets guide', () => {
  test('shows a curl command and the fields of its response', async () => {
    const server = await codeServer(ownFolder())
    await codeWorker(server, ['python'])
    await offering(server, ['python'])
    const command = /^curl -s .*?'$/ms.exec(GUIDE.slice(GUIDE.indexOf('```sh')))?.[0] ?? ''
    const { stdout } = await promisify(execFile)('bash', ['-c', command.replace('localhost:8080', server.http)])
    const { code, data } = JSON.parse(stdout)
    expect([code, data.status, data.result.output]).toEqual([0, 'completed', '42\n'])
    const shown = /```json\n(.*?)```/s.exec(GUIDE)?.[1] ?? ''
    const names = [...shown.matchAll(/"(\w+)":/g)].map(([, name]) => name ?? '')
    expect(names.length).toBeGreaterThan(15)
    for (const name of names) expect(stdout).toContain(`"${name}":`)
  })
})

test('the snippets guide names every field of a task and every route', () => {
  const printed = GUIDE.slice(GUIDE.indexOf('## Fields of a task'), GUIDE.indexOf('## States'))
  for (const field of Object.keys(taskBody.shape)) expect(printed).toContain(`\`${field}`)
  for (const { path } of API_OPERATIONS) expect(GUIDE).toContain(path.replace('/api/v1/tasks/{id}', '').split('/{')[0])
})
