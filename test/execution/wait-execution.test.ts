import { expect, test } from 'vitest'
import { until } from '../../src/engine/grid.fixture.ts'
import { memoryRecords } from '../../src/storage/journal/memory-journal.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { executionGrid, memoryInstance, refusal } from './execution-grid.ts'
import { base64, nameOf, resultOf } from './messages.ts'

test('WaitExecution sends a reconnected client the current state and then the rest', async () => {
  const grid = await executionGrid()
  const stream = grid.execute(await grid.action())
  const name = (await stream.next())?.name ?? ''
  stream.cancel()
  await until(() => grid.engine.figures().watches === 0)
  const worker = grid.worker('w1')
  worker.start()
  const again = grid.waitExecution(name)
  expect(await again.next()).toMatchObject({ name, metadata: { stage: 'EXECUTING' } })
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('x') }) })
  expect(await again.rest()).toMatchObject([{ name, done: true, response: { result: { stdoutRaw: base64('x') } } }])
})

test('a dropped Execute stream does not cancel the task, and WaitExecution returns its result', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  const name = (await stream.next())?.name ?? ''
  worker.start()
  stream.cancel()
  await until(() => grid.engine.figures().watches === 0)
  await grid.after(50_000)
  expect(worker.calls).toEqual([])
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('x') }) })
  expect(await grid.waitExecution(name).rest()).toMatchObject([{ name, done: true }])
})

test('a task whose clients do not reconnect within 60 s is cancelled', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  await stream.next()
  worker.start()
  const attempt = worker.leases[0]?.attemptId
  stream.cancel()
  await until(() => grid.engine.figures().watches === 0)
  await grid.after(60_000)
  expect(worker.calls).toEqual([`stop ${attempt}: cancelled`])
})

test('WaitExecution of a finished operation returns its end at once, with inlined outputs', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const out = Buffer.from('printed')
  await grid.put(out)
  const stream = grid.execute({ ...(await grid.action()), inlineStdout: true })
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { result: resultOf({ stdoutDigest: nameOf(out) }) })
  const last = (await stream.rest()).at(-1)
  expect(last?.response?.result?.stdoutRaw).toBe(base64('printed'))
  expect(await grid.waitExecution(last?.name ?? '').rest()).toEqual([last])
})

test('WaitExecution finds an operation that was answered from the cache', async () => {
  const grid = await executionGrid()
  const request = await grid.action()
  const { hash, sizeBytes } = request.actionDigest
  await grid.instance.actions.put('', { fn: 'sha256', hash, size: Number(sizeBytes) }, resultOf({ stdoutRaw: 'AA==' }))
  const [only] = await grid.execute(request).rest()
  expect(await grid.waitExecution(only?.name ?? '').rest()).toEqual([only])
})

test('operation names and results survive a restart', async () => {
  const records = memoryRecords()
  const clock = manualClock()
  const instance = memoryInstance()
  const before = await executionGrid({ records, clock, instance })
  const worker = before.worker('w1')
  const ended = before.execute(await before.action())
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('before') }) })
  const done = (await ended.rest()).at(-1)
  const open = before.execute(await before.action({ action: { salt: 'AA==' } }))
  const name = (await open.next())?.name ?? ''
  await before.engine.close()
  // The stream ends with UNAVAILABLE, so that its client reconnects.
  expect((await refusal(open.rest())).code).toBe(14)

  const after = await executionGrid({ records, clock, instance })
  expect(await after.waitExecution(done?.name ?? '').rest()).toEqual([done])
  const waiting = after.waitExecution(name)
  expect(await waiting.next()).toMatchObject({ name, metadata: { stage: 'QUEUED' } })
  await after.after(31_000)
  const again = after.worker('w2')
  await until(() => again.leases.length === 1)
  await again.finish(undefined, { result: resultOf({ stdoutRaw: base64('after') }) })
  expect((await waiting.rest()).at(-1)).toMatchObject({ name, done: true, response: { status: {} } })
})

test.each([
  ['a name that nobody has', 'operations/nothing'],
  ['no name', ''],
  ['the name of another server’s operation', 'c0ffee'],
  ['an instance that cannot be', '../operations/x'],
])('WaitExecution of %s is NOT_FOUND', async (_, name) => {
  const grid = await executionGrid()
  expect((await refusal(grid.waitExecution(name).rest())).code).toBe(5)
})

test('WaitExecution of an operation of another instance is NOT_FOUND', async () => {
  const grid = await executionGrid()
  const first = await grid.execute({ ...(await grid.action()), instanceName: 'mine' }).next()
  const id = first?.name.split('/').at(-1)
  expect((await refusal(grid.waitExecution(`yours/operations/${id}`).rest())).code).toBe(5)
  expect((await refusal(grid.waitExecution(`operations/${id}`).rest())).code).toBe(5)
})

test('WaitExecution of a task of another API is NOT_FOUND', async () => {
  const grid = await executionGrid()
  const { operation } = await grid.submit({ instance: '', origin: 'snippet' })
  expect((await refusal(grid.waitExecution(`operations/${operation}`).rest())).code).toBe(5)
})
