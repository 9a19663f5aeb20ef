import { expect, test } from 'vitest'
import { until } from '../../src/engine/grid.fixture.ts'
import { type ExecutionGrid, executionGrid, type OperationJson, refusal } from './execution-grid.ts'
import { base64, resultOf } from './messages.ts'

interface Listed {
  readonly operations?: readonly OperationJson[]
  readonly nextPageToken?: string
}

/** Submits this many distinct actions, which stay queued; returns their operation names. */
async function queued(grid: ExecutionGrid, count: number, instanceName = ''): Promise<string[]> {
  const names: string[] = []
  for (let i = 0; i < count; i++) {
    const request = await grid.action({ action: { salt: base64(`${instanceName} ${i}`) } })
    names.push((await grid.execute({ ...request, instanceName }).next())?.name ?? '')
  }
  return names
}

test('GetOperation returns the current state, and finally the result', async () => {
  const grid = await executionGrid()
  const stream = grid.execute(await grid.action())
  const name = (await stream.next())?.name ?? ''
  expect(await grid.operations('GetOperation', { name })).toMatchObject({ name, metadata: { stage: 'QUEUED' } })
  const worker = grid.worker('w1')
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('x') }) })
  const last = (await stream.rest()).at(-1)
  expect(await grid.operations('GetOperation', { name })).toEqual(last)
})

test('polling with GetOperation keeps a task alive, and it is cancelled 60 s after the last poll', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  const name = (await stream.next())?.name ?? ''
  worker.start()
  stream.cancel()
  await until(() => grid.engine.figures().watches === 0)
  for (let asked = 0; asked < 5; asked++) {
    await grid.after(50_000)
    worker.heartbeat()
    await grid.operations('GetOperation', { name })
  }
  expect(worker.calls).toEqual([])
  await grid.after(60_000)
  expect(worker.calls).toHaveLength(1)
})

test('ListOperations returns the operations of an instance in pages, newest first', async () => {
  const grid = await executionGrid()
  const names = await queued(grid, 5, 'main')
  await queued(grid, 1, 'other')
  const found: string[] = []
  let pageToken = ''
  do {
    const page: Listed = await grid.operations('ListOperations', { name: 'main/operations', pageSize: 2, pageToken })
    expect(page.operations?.length ?? 0).toBeLessThanOrEqual(2)
    found.push(...(page.operations ?? []).map(({ name }) => name))
    pageToken = page.nextPageToken ?? ''
  } while (pageToken !== '')
  expect(found).toEqual(names.toReversed())
})

test.each(['main', 'main/', 'main/operations'])('ListOperations accepts the parent %s', async (name) => {
  const grid = await executionGrid()
  const names = await queued(grid, 1, 'main')
  const page: Listed = await grid.operations('ListOperations', { name })
  expect(page.operations?.map((one) => one.name)).toEqual(names)
  expect(page.operations?.[0]?.metadata.stage).toBe('QUEUED')
})

test('ListOperations includes finished operations with their status', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { outcome: { kind: 'timeout' } })
  await stream.rest()
  const page: Listed = await grid.operations('ListOperations', { name: 'operations' })
  expect(page.operations).toMatchObject([{ done: true, response: { status: { code: 4 } } }])
})

test('ListOperations omits tasks of other APIs', async () => {
  const grid = await executionGrid()
  await grid.submit({ instance: 'main', origin: 'snippet' })
  expect(await grid.operations('ListOperations', { name: 'main' })).toEqual({})
})

test('ListOperations: a filter is UNIMPLEMENTED, a wrong page token or size is INVALID_ARGUMENT', async () => {
  const grid = await executionGrid()
  expect((await refusal(grid.operations('ListOperations', { filter: 'done=true' }))).code).toBe(12)
  expect((await refusal(grid.operations('ListOperations', { pageToken: 'made up' }))).code).toBe(3)
  expect((await refusal(grid.operations('ListOperations', { pageSize: -1 }))).code).toBe(3)
})

test('CancelOperation ends the stream with CANCELLED and stops the worker', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  const name = (await stream.next())?.name ?? ''
  worker.start()
  const [lease] = worker.leases
  await grid.operations('CancelOperation', { name })
  expect(worker.calls).toEqual([`stop ${lease?.attemptId}: cancelled`])
  await worker.finish(lease, { outcome: { kind: 'stopped' } })
  const last = (await stream.rest()).at(-1)
  expect(last).toMatchObject({ done: true, response: { status: { code: 1 } } })
  expect(last?.error).toBeUndefined()
  await grid.operations('CancelOperation', { name })
})

test("CancelOperation ends only the caller's operation when another one shares the task", async () => {
  const grid = await executionGrid()
  const request = await grid.action()
  const [one, other] = [grid.execute(request), grid.execute(request)]
  const name = (await one.next())?.name ?? ''
  await other.next()
  const worker = grid.worker('w1')
  await until(() => worker.leases.length === 1)
  await grid.operations('CancelOperation', { name })
  expect((await one.rest()).at(-1)).toMatchObject({ name, done: true, response: { status: { code: 1 } } })
  expect(worker.calls).toEqual([])
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('x') }) })
  expect((await other.rest()).at(-1)?.response).toMatchObject({ status: {}, result: { stdoutRaw: base64('x') } })
})

test('DeleteOperation of the last operation of a task cancels the task', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  const name = (await stream.next())?.name ?? ''
  worker.start()
  const [lease] = worker.leases
  await grid.operations('DeleteOperation', { name })
  expect(worker.calls).toEqual([`stop ${lease?.attemptId}: cancelled`])
})

test('WaitOperation returns when the operation is done', async () => {
  const grid = await executionGrid()
  const name = (await grid.execute(await grid.action()).next())?.name ?? ''
  const waiting = grid.operations<OperationJson>('WaitOperation', { name, timeout: '60s' })
  await until(() => grid.engine.figures().watches === 2)
  const worker = grid.worker('w1')
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { result: resultOf() })
  expect(await waiting).toMatchObject({ name, done: true })
  expect(await grid.operations('WaitOperation', { name })).toMatchObject({ name, done: true })
})

test('WaitOperation returns the current state when its timeout passes, and immediately for 0 s', async () => {
  const grid = await executionGrid()
  const name = (await grid.execute(await grid.action()).next())?.name ?? ''
  const waiting = grid.operations<OperationJson>('WaitOperation', { name, timeout: '5s' })
  await until(() => grid.engine.figures().watches === 2)
  await grid.after(0)
  await grid.after(5000)
  expect(await waiting).toMatchObject({ name, metadata: { stage: 'QUEUED' } })
  expect(await grid.operations('WaitOperation', { name, timeout: '0s' })).toMatchObject({ name })
})

test.each(['GetOperation', 'CancelOperation', 'DeleteOperation', 'WaitOperation'])(
  '%s of an unknown operation is NOT_FOUND',
  async (method) => {
    const grid = await executionGrid()
    const [name = ''] = await queued(grid, 1, 'mine')
    for (const wrong of ['operations/nothing', '', name.replace('mine', 'yours')])
      expect((await refusal(grid.operations(method, { name: wrong }))).code).toBe(5)
  },
)
