import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { type SocketGrid, startSocketGrid } from './socket-grid.ts'

const EXAMPLE = resolve(import.meta.dirname, '../../examples/websocket-worker.mjs')

async function start(grid: SocketGrid, name: string): Promise<ChildProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-websocket-'))
  const env = { ...process.env, TMPDIR: folder }
  const child = spawn(process.execPath, [EXAMPLE, grid.url, name], { stdio: 'inherit', env })
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  await eventually(() => expect(grid.stateOf(name)).toMatch(/ONLINE|DEGRADED/))
  return child
}

const printed = ({ result }: Awaited<ReturnType<SocketGrid['end']>>) =>
  Buffer.from(result?.stages[0]?.stdout.inline ?? []).toString()

test('the example WebSocket worker runs 24 concurrent Python and JavaScript tasks, each once', async () => {
  const grid = await startSocketGrid()
  await start(grid, 'example')
  const requests = Array.from({ length: 24 }, (_, i) =>
    i % 2 === 0 ? { code: `print(${i})` } : { language: 'javascript', code: `console.log(${i})` },
  )
  const ends = await Promise.all(requests.map((options) => grid.run(options)))
  expect(ends.map(printed)).toEqual(requests.map((_, i) => `${i}\n`))
  expect(ends.map(({ status }) => [status.state, status.attempt])).toEqual(requests.map(() => ['completed', 1]))
})

test('the example WebSocket worker kills a task at its timeout, and reports a failed one as a result', async () => {
  const grid = await startSocketGrid()
  await start(grid, 'example')
  const endless = grid.run({ code: 'while True: pass', limits: { wallMs: 500 } })
  const failing = await grid.run({ code: 'import sys; print("ä", file=sys.stderr); sys.exit(7)' })
  expect(failing.status.state).toBe('completed')
  expect(failing.result?.stages[0]).toMatchObject({ cause: 'exit', exitCode: 7 })
  expect(Buffer.from(failing.result?.stages[0]?.stderr.inline ?? []).toString()).toBe('ä\n')
  expect((await endless).status.state).toBe('timeout')
})

test('tasks of a killed WebSocket worker run again on another one, once', async () => {
  const grid = await startSocketGrid()
  const victim = await start(grid, 'victim')
  const running = await Promise.all(
    Array.from({ length: 2 }, () => grid.submit({ code: 'import time; time.sleep(8)' })),
  )
  await eventually(async () => {
    for (const { operation } of running)
      expect((await grid.engine.find(LOCAL_CALLER, operation))?.state).toBe('running')
  })
  victim.kill('SIGKILL')
  await once(victim, 'exit')
  const heir = await grid.worker('heir')
  const given = []
  while (given.length < running.length) {
    await eventually(() => {
      grid.clock.advance(1_000)
      heir.heartbeat()
      expect(heir.unheard.length).toBeGreaterThan(0)
    })
    const task = await heir.hears()
    given.push(task)
    heir.finish(task)
  }
  const ends = await Promise.all(running.map(({ operation }) => grid.end(operation)))
  expect(ends.map(({ status }) => [status.state, status.worker, status.attempt])).toEqual([
    ['completed', 'heir', 2],
    ['completed', 'heir', 2],
  ])
})
