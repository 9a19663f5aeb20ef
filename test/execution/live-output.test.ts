import { expect, test } from 'vitest'
import { type FakeWorker, until } from '../../src/engine/grid.fixture.ts'
import { STATUS } from '../../src/grpc/status.ts'
import { type ExecutionGrid, executionGrid, refusal } from './execution-grid.ts'
import { readLog, writeLog } from './log-reading.ts'
import { base64, nameOf, resultOf } from './messages.ts'

const printer =
  ({ engine }: ExecutionGrid, { id, leases }: FakeWorker) =>
  (text: string, stream: 'stdout' | 'stderr' = 'stdout'): void => {
    const attemptId = leases[0]?.attemptId ?? ''
    engine.workers.output({ worker: id, attemptId, stream, bytes: Buffer.from(text) })
  }

/** A running task and the names of its log streams. */
async function running(options: Parameters<typeof executionGrid>[0] = {}, instanceName = '') {
  const grid = await executionGrid(options)
  const worker = grid.worker('w1')
  const stream = grid.execute({ ...(await grid.action()), instanceName })
  const { name = '', metadata } = (await stream.next()) ?? {}
  worker.start()
  await until(() => worker.leases.length === 1)
  const { stdoutStreamName: stdout = '', stderrStreamName: stderr = '' } = metadata ?? {}
  return {
    grid,
    worker,
    stream,
    name,
    stdout,
    stderr,
    read: (path: string, range = {}) => readLog(grid.channel, path, range),
  }
}

test('the first operation message names the log streams of stdout and stderr', async () => {
  const { stdout, stderr, name } = await running({}, 'a/b')
  expect([stdout, stderr]).toEqual([`${name}/logstreams/stdout`, `${name}/logstreams/stderr`])
})

test('stdout and stderr are streamed separately while the task runs, until the operation ends', async () => {
  const { grid, worker, stdout, stderr, read } = await running()
  const [out, err] = [read(stdout), read(stderr)]
  printer(grid, worker)('one\n')
  printer(grid, worker)('oops\n', 'stderr')
  await Promise.all([out.until('one\n'), err.until('oops\n')])
  printer(grid, worker)('two\n')
  await out.until('two\n')
  const result = resultOf({ stdoutRaw: base64('one\ntwo\n'), stderrRaw: base64('oops\n') })
  await worker.finish(undefined, { result })
  expect(await out.rest()).toBe('one\ntwo\n')
  expect(await err.rest()).toBe('oops\n')
})

test('a log can be read before the task has a worker', async () => {
  const grid = await executionGrid()
  const { metadata } = (await grid.execute(await grid.action()).next()) ?? {}
  const reader = readLog(grid.channel, metadata?.stdoutStreamName ?? '')
  const worker = grid.worker('w1')
  await until(() => worker.leases.length === 1)
  printer(grid, worker)('early')
  await reader.until('early')
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('early') }) })
  expect(await reader.rest()).toBe('early')
})

test('output that was lost in transit is read from the result at the end', async () => {
  const { grid, worker, stdout, read } = await running()
  const reader = read(stdout)
  printer(grid, worker)('abc')
  await reader.until('abc')
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('abcdef') }) })
  expect(await reader.rest()).toBe('abcdef')
})

test('a log of a finished task is read from the result, inline or blob, with offset and limit', async () => {
  const { grid, worker, stdout, stderr, read } = await running()
  const blob = Buffer.from('x'.repeat(3000))
  await grid.put(blob)
  const result = resultOf({ stdoutRaw: base64('abcdef'), stderrDigest: nameOf(blob) })
  await worker.finish(undefined, { result })
  expect(await read(stdout).rest()).toBe('abcdef')
  expect(await read(stdout, { offset: 2 }).rest()).toBe('cdef')
  expect(await read(stdout, { offset: 2, limit: 2 }).rest()).toBe('cd')
  expect(await read(stdout, { offset: 6 }).rest()).toBe('')
  expect(await read(stderr).rest()).toBe('x'.repeat(3000))
  expect(await read(stderr, { offset: 2990, limit: 5 }).rest()).toBe('xxxxx')
  expect(await refusal(read(stdout, { offset: 7 }).rest())).toMatchObject({ code: STATUS.outOfRange })
})

test('the logs of a task without output or without a result are empty', async () => {
  const { worker, stdout, stderr, read } = await running()
  const live = read(stdout)
  await worker.finish(undefined, { outcome: { kind: 'fault', what: 'broken', final: true } })
  expect(await live.rest()).toBe('')
  expect(await read(stderr).rest()).toBe('')
})

test('a reader can resume at an offset', async () => {
  const { grid, worker, stdout, read } = await running()
  printer(grid, worker)('abc')
  printer(grid, worker)('noise', 'stderr')
  printer(grid, worker)('def')
  const reader = read(stdout, { offset: 4 })
  await reader.until('ef')
  printer(grid, worker)('ghi')
  await reader.until('efghi')
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('abcdefghi') }) })
  expect(await reader.rest()).toBe('efghi')
})

test('a read limit ends the stream while the task runs', async () => {
  const { grid, worker, stdout, read } = await running()
  const reader = read(stdout, { limit: 4 })
  printer(grid, worker)('abcdef')
  expect(await reader.rest()).toBe('abcd')
})

test('a late reader gets the number of dropped bytes, and a dropped offset is OUT_OF_RANGE', async () => {
  const { grid, worker, stdout, read } = await running({ engine: { limits: { outputBytes: 10 } } })
  printer(grid, worker)('0123456789')
  printer(grid, worker)('abcdefgh')
  const reader = read(stdout)
  await reader.until('abcdefgh')
  expect(reader.text).toBe('\n[windlass: 10 bytes left out]\nabcdefgh')
  expect(await refusal(read(stdout, { offset: 3 }).rest())).toMatchObject({ code: STATUS.outOfRange })
})

test('a reader continues at its offset when the task is retried', async () => {
  const { grid, worker, stdout, read } = await running()
  const reader = read(stdout)
  printer(grid, worker)('one\n')
  await reader.until('one\n')
  grid.engine.workers.unregister('w1')
  const second = grid.worker('w2')
  await until(() => second.leases.length === 1)
  second.start()
  printer(grid, second)('one\ntwo\n')
  await reader.until('two\n')
  await second.finish(undefined, { result: resultOf({ stdoutRaw: base64('one\ntwo\n') }) })
  expect(await reader.rest()).toBe('one\ntwo\n')
})

test("the Go SDK's prefix before a log name is accepted", async () => {
  const { worker, stdout, read } = await running({}, 'main')
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('abc') }) })
  expect(await read(`main/logstreams/${stdout}`).rest()).toBe('abc')
})

test('an unknown log, or one of another instance, is NOT_FOUND', async () => {
  const { stdout, read } = await running({}, 'main')
  for (const name of [
    'operations/unknown/logstreams/stdout',
    stdout.replace('main/', ''),
    stdout.replace('main/', 'other/'),
    `other/logstreams/${stdout}`.replace('logstreams/main/', 'logstreams/other/'),
    stdout.replace('stdout', 'stdin'),
  ])
    expect(await refusal(read(name).rest()), name).toMatchObject({ code: STATUS.notFound })
})

test('writing to the log of an operation is refused with INVALID_ARGUMENT', async () => {
  const { grid, stdout } = await running()
  const writer = writeLog(grid.channel, stdout)
  writer.write('forged')
  expect(await refusal(writer.end())).toMatchObject({ code: STATUS.invalidArgument })
})

test('a log reader does not keep an operation alive when its last watcher has left', async () => {
  const { grid, stream, worker, stdout, read } = await running()
  const reader = read(stdout)
  printer(grid, worker)('abc')
  await reader.until('abc')
  stream.cancel()
  await until(() => grid.engine.figures().watches === 0)
  await grid.after(61_000)
  await until(() => worker.calls.some((word) => word.startsWith('stop')))
  reader.cancel()
})

test('a stopping server ends log reads with UNAVAILABLE', async () => {
  const ending = new AbortController()
  const { grid, worker, stdout, read } = await running({ logs: { ending: ending.signal } })
  const reader = read(stdout)
  printer(grid, worker)('abc')
  await reader.until('abc')
  ending.abort()
  expect(await refusal(reader.rest())).toMatchObject({ code: STATUS.unavailable })
})

test('a slow log reader does not grow memory, and gets the number of dropped bytes', async () => {
  const { grid, worker, stdout } = await running()
  const call = readLog(grid.channel, stdout)
  const line = `${'x'.repeat(64 * 1024 - 1)}\n`
  for (let i = 0; i < 200; i++) {
    printer(grid, worker)(line)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await worker.finish(undefined, { result: resultOf({}) })
  const text = await call.rest()
  expect(text).toMatch(/\[windlass: \d+ bytes left out\]/)
  expect(text.length).toBeLessThan(100 * line.length)
})
