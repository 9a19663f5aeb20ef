import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runWindlass } from '../../bench/cache/peers/windlass.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { scriptedWorker } from './socket-grid.ts'

async function serverIn(folder: string) {
  const running = await runWindlass(folder)
  onTestFinished(() => running[Symbol.asyncDispose]())
  const { http } = JSON.parse(await running.server.firstLine()) as { http: string }
  const ask = async (path: string, body?: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await (await fetch(`http://${http}${path}`, body && init)).json()) as { data: Record<string, unknown> }
  }
  return { running, ask, url: `ws://${http}/api/v1/workers/connect` }
}

test('a WebSocket worker receives the task ids of the REST API, also after a restart of the server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-rest-ids-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  const before = await serverIn(folder)
  const first = await scriptedWorker(before.url, 'client_abc123')
  await eventually(async () => expect(await before.ask('/api/v1/workers')).toMatchObject({ data: [{}] }))
  const ids: unknown[] = []
  for (const code of ['print(1)', 'print(2)']) {
    const { data } = await before.ask('/api/v1/tasks', { language: 'python', code })
    ids.push(data.taskId)
  }
  const tasks = [await first.hears(), await first.hears()]
  expect(tasks.map(({ taskId }) => taskId).sort()).toEqual(ids.sort())
  first.finish({ taskId: ids[0] })
  const statusIn = async ({ ask }: typeof before, id: unknown) => (await ask(`/api/v1/tasks/${id}`)).data
  await eventually(async () => expect(await statusIn(before, ids[0])).toMatchObject({ status: 'completed' }))
  await before.running[Symbol.asyncDispose]()

  const after = await serverIn(folder)
  const second = await scriptedWorker(after.url, 'client_abc123', { running: [ids[1]] })
  second.finish({ taskId: ids[1] }, { output: 'run before, reported after\n' })
  const done = { status: 'completed', result: { output: 'run before, reported after\n' } }
  await eventually(async () => expect(await statusIn(after, ids[1])).toMatchObject(done))
})
