/** Our own worker over HTTP only: work, results, output, inputs and outputs. */
import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { hasSucceeded } from '../../src/model/command-task.ts'
import { memoryJournal, memoryRecords } from '../../src/storage/journal/memory-journal.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { ended, fileOf, runCommand, sh, stageOf, submitCommand, textOf } from '../commands/commands.ts'
import { until } from '../workers/grid.ts'
import { contentOf, gate, resultOf, text } from '../workers/told-results.ts'
import { type WorkerHere, workerHere } from '../workers/worker-here.ts'
import { startWorkerProcess } from '../workers/worker-process.ts'
import { type HttpGrid, startHttpGrid } from './http-grid.ts'

const httpWorker = (grid: HttpGrid, settings: Record<string, string> = {}): Promise<WorkerHere> =>
  workerHere('', {
    WINDLASS_WORKER_SERVER_URL: grid.url,
    WINDLASS_WORKER_PROTOCOL: 'http',
    WINDLASS_WORKER_WORKER_ID: 'w1',
    ...settings,
  })

/** Sends its first heartbeat after an hour; the server waits for three. */
const SILENT_FOR_AN_HOUR = {
  WINDLASS_WORKER_HEARTBEAT_INTERVAL_SECONDS: '3600',
  WINDLASS_EXECUTION_SCHEDULER_HEARTBEAT_TIMEOUT_SECONDS: '10800',
}

test.each([false, true])(
  'the HTTP worker runs actions with their inputs and stores their outputs (read by digest: %s)',
  async (byDigest) => {
    const grid = await startHttpGrid()
    await httpWorker(grid)
    const large = 'x'.repeat(400_000)
    const { operation } = await grid.submit({
      script: 'cat in/a.txt; cp large big.out; mkdir d; echo x > d/x; echo oops >&2; exit 4',
      inputs: { in: { 'a.txt': 'flour' }, large },
      outputs: ['big.out', 'd', 'never'],
      byDigest,
    })
    const status = await grid.end(operation)
    expect(status).toMatchObject({ state: 'completed', worker: 'w1', attempt: 1, end: { why: 'result' } })
    const result = resultOf(status)
    expect(result).toMatchObject({ exitCode: 4, metadata: { worker: 'w1' } })
    expect([text(result.stdout.raw), text(result.stderr.raw)]).toEqual(['flour', 'oops\n'])
    expect(await contentOf(grid.blobs, result.outputFiles[0]?.digest)).toBe(large)
    expect(await contentOf(grid.blobs, result.outputDirectories[0]?.treeDigest)).toBeDefined()
  },
)

test('the HTTP worker runs command tasks with several stages and outputs', async () => {
  const grid = await startHttpGrid()
  await httpWorker(grid)
  const { result } = await runCommand(grid, {
    stages: [sh('cat in > made', { name: 'compile' }), sh('cat made', { stdin: undefined })],
    inputs: { files: [fileOf('in', 'stuff')] },
    outputs: { globs: ['made'] },
  })
  expect(hasSucceeded(result)).toBe(true)
  expect(textOf(stageOf(result).stdout)).toBe('stuff')
  expect(await contentOf(grid.blobs, result.outputs.files[0]?.digest)).toBe('stuff')
  expect(grid.engine.workers.list()).toMatchObject([{ worker: 'w1', about: { protocol: 'http' } }])
})

test('the HTTP worker runs three tasks at a time with three slots, and finally all 23', async () => {
  const grid = await startHttpGrid()
  await httpWorker(grid, { WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '3' })
  const waits = [gate(), gate(), gate()]
  const held = await Promise.all(waits.map(({ script }) => grid.submit({ script })))
  await Promise.all(waits.map(({ begun }) => begun())) // all three run, and the worker polls for no more
  await until(() => grid.parked() === 0)
  const more = await Promise.all(Array.from({ length: 20 }, (_, i) => grid.submit({ script: `echo ${i}` })))
  for (const { open } of waits) open()
  const ends = await Promise.all([...held, ...more].map(({ operation }) => grid.end(operation)))
  expect(ends.map(({ state }) => state)).toEqual(Array(23).fill('completed'))
  expect(ends.slice(3).map((status) => text(resultOf(status).stdout.raw))).toEqual(more.map((_, i) => `${i}\n`))
  await until(() => grid.engine.workers.list()[0]?.leases === 0)
})

test('the HTTP worker stops a cancelled task before its next heartbeat and confirms it', async () => {
  const grid = await startHttpGrid()
  await httpWorker(grid, SILENT_FOR_AN_HOUR)
  const { script, begun } = gate()
  const { operation } = await grid.submit({ script })
  await begun()
  await grid.running(operation)
  void grid.engine.cancel(LOCAL_CALLER, operation)
  expect(await grid.end(operation)).toMatchObject({ state: 'cancelled' })
  await until(() => grid.engine.workers.list()[0]?.leases === 0)
})

test('the HTTP worker may have any name, and does not offer interactive tasks', async () => {
  const grid = await startHttpGrid()
  const name = 'a b/c%2Fd é?#.'
  await httpWorker(grid, { WINDLASS_WORKER_WORKER_ID: name })
  const { operation } = await grid.submit({ script: 'true' })
  expect(await grid.end(operation)).toMatchObject({ state: 'completed', worker: name })
  const [view] = grid.engine.workers.list()
  expect(view?.properties.map((property) => property.name)).not.toContain('interactive')
  expect(view?.properties).toContainEqual({ name: 'runs', value: 'command' })
})

test('the HTTP worker kills a task at its timeout and returns its output so far', async () => {
  const grid = await startHttpGrid()
  await httpWorker(grid)
  const { operation } = await grid.submit({ script: 'echo begun; sleep 60', timeoutMs: 300 })
  const status = await grid.end(operation)
  expect(status).toMatchObject({ state: 'timeout', end: { why: 'timeout' } })
  expect(text(resultOf(status).stdout.raw)).toBe('begun\n')
})

test('the HTTP worker streams output while the task runs', async () => {
  const grid = await startHttpGrid()
  await httpWorker(grid)
  const wait = gate()
  const { operation } = await grid.submit({ script: `echo early; ${wait.script}` })
  await wait.begun()
  let seen = ''
  await until(() => {
    const listener = grid.engine.listenOutput(LOCAL_CALLER, operation, () => {})
    seen = text(listener?.next()?.bytes)
    listener?.close()
    return seen !== ''
  })
  expect(seen).toBe('early\n')
  wait.open()
  expect(await grid.end(operation)).toMatchObject({ state: 'completed' })
})

test('the HTTP worker keeps its tasks over a server restart, and reports their results', async () => {
  const records = memoryRecords()
  const blobs = memoryStore()
  const first = await startHttpGrid({ journal: memoryJournal(records), blobs })
  await httpWorker(first)
  const wait = gate()
  const task = await first.submit({ script: wait.script })
  const command = gate()
  const { operation } = await submitCommand(first, { stages: [sh(command.script)] })
  await Promise.all([wait.begun(), command.begun()])
  await first.running(task.operation)
  await first.running(operation)
  first.kill()
  command.open() // one task ends while the server is down
  const second = await startHttpGrid({ journal: memoryJournal(records), blobs, httpPort: first.httpPort })
  const reported = ended(await second.end(operation))
  expect(reported.status).toMatchObject({ state: 'completed', attempt: 1, worker: 'w1' })
  expect(textOf(stageOf(reported.result).stdout)).toBe('done\n')
  wait.open()
  expect(await second.end(task.operation)).toMatchObject({ state: 'completed', attempt: 1 })
  const later = await second.submit({ script: 'echo later' })
  expect(await second.end(later.operation)).toMatchObject({ state: 'completed', attempt: 1 })
})

test('the HTTP worker finishes its tasks and unregisters when the server orders a shutdown', async () => {
  const grid = await startHttpGrid()
  const worker = await httpWorker(grid, SILENT_FOR_AN_HOUR)
  const wait = gate()
  const { operation } = await grid.submit({ script: wait.script })
  await wait.begun()
  grid.engine.drainWorker(LOCAL_CALLER, 'w1', { shutdown: true })
  const waiting = await grid.submit({ script: 'true' })
  wait.open()
  expect(await grid.end(operation)).toMatchObject({ state: 'completed', attempt: 1 })
  await worker.ended
  expect(grid.engine.workers.list()).toEqual([])
  expect(await grid.engine.find(LOCAL_CALLER, waiting.operation)).toMatchObject({ state: 'queued' })
})

test('the HTTP worker unregisters when it stops', async () => {
  const grid = await startHttpGrid()
  const worker = await httpWorker(grid)
  await until(() => grid.parked() === 1)
  await worker.stop()
  expect(grid.engine.workers.list()).toEqual([])
  await until(() => grid.parked() === 0)
})

test('a second HTTP worker with the same name replaces the first, which ends with an error', async () => {
  const grid = await startHttpGrid()
  const first = await httpWorker(grid)
  await until(() => grid.parked() === 1)
  await httpWorker(grid)
  await expect(first.ended).rejects.toThrow(/another worker has registered/)
  const { operation } = await grid.submit({ script: 'true' })
  expect(await grid.end(operation)).toMatchObject({ state: 'completed' })
})

test('the HTTP worker does not start with an address that offers no work over HTTP, and reports why', async () => {
  const grid = await startHttpGrid()
  await expect(httpWorker(grid, { WINDLASS_WORKER_SERVER_URL: 'ftp://x' })).rejects.toThrow(/none of http/)
  const elsewhere = await httpWorker(grid, { WINDLASS_WORKER_SERVER_URL: `${grid.url}/elsewhere` })
  await expect(elsewhere.ended).rejects.toThrow(/offers no work over HTTP/)
})

test('`windlass worker daemon --protocol http` starts the HTTP worker', async () => {
  const grid = await startHttpGrid()
  const worker = await startWorkerProcess(new URL(grid.url).host, ['--protocol', 'http', '--slots', '2'])
  const { operation } = await grid.submit({ script: 'echo hello' })
  expect(text(resultOf(await grid.end(operation)).stdout.raw)).toBe('hello\n')
  worker.signal('SIGTERM')
  expect(await worker.gone).toBe(0)
  expect(grid.engine.workers.list()).toEqual([])
})
