import { expect, test } from 'vitest'
import { until } from '../../src/engine/grid.fixture.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { digestOf } from '../../src/storage/blobs.fixture.ts'
import { requestMetadataToProto } from '../../src/wire/reapi/execution.ts'
import { actionSpecFromProto } from '../../src/wire/tasks/task-spec.ts'
import { executionGrid, TRUE } from './execution-grid.ts'
import { base64, nameOf, resultOf } from './messages.ts'

const METADATA = 'type.googleapis.com/build.bazel.remote.execution.v2.ExecuteOperationMetadata'
const RESPONSE = 'type.googleapis.com/build.bazel.remote.execution.v2.ExecuteResponse'

test('Execute sends the first operation immediately, without any worker', async () => {
  const grid = await executionGrid()
  const request = await grid.action()
  const first = await grid.execute(request).next()
  expect(first?.name).toMatch(/^operations\/./)
  expect(first?.done).toBeUndefined()
  expect(first?.metadata).toMatchObject({
    '@type': METADATA,
    stage: 'QUEUED',
    actionDigest: request.actionDigest,
    digestFunction: 'SHA256',
  })
  expect(first?.metadata.partialExecutionMetadata?.queuedTimestamp).toBe('2023-11-14T22:13:20Z')
})

test('the operation name begins with the instance name', async () => {
  const grid = await executionGrid()
  const first = await grid.execute({ ...(await grid.action()), instanceName: 'a/b' }).next()
  expect(first?.name).toMatch(/^a\/b\/operations\/[^/]+$/)
})

test('Execute sends each stage as it changes, and the result last', async () => {
  const grid = await executionGrid()
  const stream = grid.execute(await grid.action())
  const first = await stream.next()
  const worker = grid.worker('w1')
  const assigned = await stream.next()
  expect(assigned?.metadata).toMatchObject({ stage: 'QUEUED', partialExecutionMetadata: { worker: 'w1' } })
  expect(assigned?.metadata.partialExecutionMetadata?.workerStartTimestamp).toBeDefined()
  worker.start()
  const running = await stream.next()
  expect(running?.metadata.stage).toBe('EXECUTING')
  expect(running?.metadata.partialExecutionMetadata?.executionStartTimestamp).toBeDefined()
  void worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('hello\n') }) })
  const last = await stream.next()
  expect(last).toMatchObject({ name: first?.name, done: true, metadata: { stage: 'COMPLETED' } })
  expect(last?.error).toBeUndefined()
  expect(last?.response).toMatchObject({ '@type': RESPONSE, result: { stdoutRaw: base64('hello\n') }, status: {} })
  expect(last?.response?.cachedResult).toBeUndefined()
  expect([assigned, running].map((one) => [one?.name, one?.done])).toEqual([
    [first?.name, undefined],
    [first?.name, undefined],
  ])
  expect(await stream.next()).toBeUndefined()
})

test('Execute reports QUEUED again when the task lost its worker', async () => {
  const grid = await executionGrid()
  const stream = grid.execute(await grid.action())
  await stream.next()
  const worker = grid.worker('w1')
  worker.start()
  let reported = await stream.next()
  while (reported?.metadata.stage !== 'EXECUTING') reported = await stream.next()
  grid.engine.workers.unregister('w1')
  expect((await stream.next())?.metadata.stage).toBe('QUEUED')
})

test('a lease contains the bytes of the action and its command', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action({ action: { salt: base64('salt') } }))
  await stream.next()
  await until(() => worker.leases.length === 1)
  const [lease] = worker.leases
  expect(lease?.origin).toBe('action')
  const { actionDigest, inline } = actionSpecFromProto(lease?.spec ?? new Uint8Array())
  expect(digestOf(inline?.action ?? new Uint8Array())).toEqual(actionDigest)
  expect(inline?.command.length).toBeGreaterThan(0)
})

test('a command that exits with 1 is a result, and is not cached', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const request = await grid.action()
  for (const _ of ['once', 'and again']) {
    const stream = grid.execute(request)
    await until(() => worker.leases.length === 1)
    await worker.finish(undefined, {
      outcome: { kind: 'result', succeeded: false },
      result: resultOf({ exitCode: 1, stderrRaw: base64('no') }),
    })
    const last = (await stream.rest()).at(-1)
    expect(last?.response).toMatchObject({ status: {}, result: { exitCode: 1, stderrRaw: base64('no') } })
    expect(last?.response?.status?.code).toBeUndefined()
    expect(last?.response?.cachedResult).toBeUndefined()
  }
})

test('Execute returns a cached result in one message and queues nothing', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const request = await grid.action()
  const first = grid.execute(request)
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('once') }) })
  await first.rest()
  const messages = await grid.execute(request).rest()
  expect(messages).toHaveLength(1)
  expect(messages[0]).toMatchObject({
    done: true,
    metadata: { stage: 'COMPLETED' },
    response: { cachedResult: true, result: { stdoutRaw: base64('once') }, status: {} },
  })
  expect(worker.leases).toEqual([])
  expect(grid.engine.figures().operations).toBe(0)
})

test('Execute returns a cached result although the inputs are missing', async () => {
  const grid = await executionGrid()
  const request = await grid.action({ root: { files: [{ name: 'a', digest: nameOf(Buffer.from('gone')) }] } })
  const digest = {
    fn: 'sha256' as const,
    hash: request.actionDigest.hash,
    size: Number(request.actionDigest.sizeBytes),
  }
  const kept = { stdoutRaw: base64('kept'), executionMetadata: { worker: 'of before' } }
  await grid.instance.actions.put('', digest, resultOf(kept))
  const [only] = await grid.execute(request).rest()
  expect(only?.response?.cachedResult).toBe(true)
  // The server must not add times of its own to the result of an earlier run.
  expect(only?.response?.result).toEqual(kept)
})

test('Execute runs the action again when an output of the cached result is missing', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const request = await grid.action()
  const gone = nameOf(Buffer.from('gone'))
  const stream = grid.execute(request)
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { result: resultOf({ outputFiles: [{ path: 'out', digest: gone }] }) })
  await stream.rest()
  const again = grid.execute(request)
  expect((await again.next())?.done).toBeUndefined()
  await until(() => worker.leases.length === 1)
})

test('skip_cache_lookup runs a cached action again, and the new result replaces the old one', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const request = await grid.action()
  for (const text of ['old', 'new']) {
    const stream = grid.execute({ ...request, skipCacheLookup: true })
    await until(() => worker.leases.length === 1)
    await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64(text) }) })
    expect((await stream.rest()).at(-1)?.response?.result?.stdoutRaw).toBe(base64(text))
  }
  const [cached] = await grid.execute(request).rest()
  expect(cached?.response).toMatchObject({ cachedResult: true, result: { stdoutRaw: base64('new') } })
})

test('do_not_cache: the result is not stored, and identical actions do not share a run', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1', { slots: 2 })
  const request = await grid.action({ action: { doNotCache: true } })
  const streams = [grid.execute(request), grid.execute(request)]
  await until(() => worker.leases.length === 2)
  for (const lease of [...worker.leases]) await worker.finish(lease, { result: resultOf({ stdoutRaw: base64('x') }) })
  for (const stream of streams) expect((await stream.rest()).at(-1)?.done).toBe(true)
  const again = grid.execute(request)
  expect((await again.next())?.done).toBeUndefined()
})

test('identical concurrent actions share one run, each with its own operation name', async () => {
  const grid = await executionGrid()
  const request = await grid.action()
  const one = grid.execute(request)
  const other = grid.execute({ ...request, skipCacheLookup: true })
  const names = [(await one.next())?.name, (await other.next())?.name]
  expect(new Set(names).size).toBe(2)
  const worker = grid.worker('w1', { slots: 2 })
  await until(() => worker.leases.length > 0)
  await worker.finish(undefined, { result: resultOf({ stdoutRaw: base64('shared') }) })
  for (const [index, stream] of [one, other].entries()) {
    const last = (await stream.rest()).at(-1)
    expect(last?.name).toBe(names[index])
    expect(last?.response?.result?.stdoutRaw).toBe(base64('shared'))
  }
})

test('identical actions of two instances run separately', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1', { slots: 2 })
  const request = await grid.action()
  const streams = [grid.execute(request), grid.execute({ ...request, instanceName: 'other' })]
  for (const stream of streams) await stream.next()
  await until(() => worker.leases.length === 2)
  expect(worker.leases.map(({ instance }) => instance).sort()).toEqual(['', 'other'])
})

test('a command that timed out returns DEADLINE_EXCEEDED with its output so far', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action({ action: { timeout: '2s' } }))
  await until(() => worker.leases.length === 1)
  expect(worker.leases[0]?.timeoutMs).toBe(2000)
  await worker.finish(undefined, {
    outcome: { kind: 'timeout' },
    result: resultOf({ exitCode: 137, stdoutRaw: base64('half') }),
  })
  const last = (await stream.rest()).at(-1)
  expect(last).toMatchObject({ done: true, response: { status: { code: 4 }, result: { stdoutRaw: base64('half') } } })
})

test('an action without a timeout gets defaultTimeoutMs', async () => {
  const grid = await executionGrid({ door: { limits: { defaultTimeoutMs: 5000 } } })
  const worker = grid.worker('w1')
  await grid.execute(await grid.action()).next()
  await until(() => worker.leases.length === 1)
  expect(worker.leases[0]?.timeoutMs).toBe(5000)
})

test('an action with a lower priority number runs first', async () => {
  const grid = await executionGrid()
  const late = await grid.action({ action: { salt: base64('late') } })
  const soon = await grid.action({ action: { salt: base64('soon') } })
  await grid.execute({ ...late, executionPolicy: { priority: 10 } }).next()
  await grid.execute({ ...soon, executionPolicy: { priority: -10 } }).next()
  const worker = grid.worker('w1')
  await until(() => worker.leases.length === 1)
  const { actionDigest } = actionSpecFromProto(worker.leases[0]?.spec ?? new Uint8Array())
  expect(actionDigest.hash).toBe(soon.actionDigest.hash)
})

test('the platform of the action is used, and that of the command only when the action has none', async () => {
  const grid = await executionGrid()
  const windows = { properties: [{ name: 'OSFamily', value: 'windows' }] }
  const worker = grid.worker('w1', { properties: windows.properties })
  await grid.execute(await grid.action({ action: { platform: windows } })).next()
  await until(() => worker.leases.length === 1)
  await worker.finish()
  await grid.execute(await grid.action({ command: { ...TRUE, platform: windows }, action: { salt: 'AA==' } })).next()
  await until(() => worker.leases.length === 1)
})

test('outputs are inlined only for the client that requested it, and their digests stay', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const [out, file] = [Buffer.from('printed'), Buffer.from('made')]
  await grid.put(out, file)
  const request = await grid.action()
  const plain = grid.execute(request)
  await plain.next()
  const wishing = grid.execute({ ...request, inlineStdout: true, inlineOutputFiles: ['bin/made'] })
  await wishing.next()
  await until(() => worker.leases.length === 1)
  const result = resultOf({
    stdoutDigest: nameOf(out),
    outputFiles: [
      { path: 'bin/made', digest: nameOf(file) },
      { path: 'bin/other', digest: nameOf(file) },
    ],
  })
  await worker.finish(undefined, { result })
  expect((await wishing.rest()).at(-1)?.response?.result).toMatchObject({
    stdoutRaw: base64('printed'),
    stdoutDigest: nameOf(out),
    outputFiles: [{ path: 'bin/made', contents: base64('made') }, { path: 'bin/other' }],
  })
  const uninlined = (await plain.rest()).at(-1)?.response?.result
  expect(uninlined?.stdoutRaw).toBeUndefined()
  expect(uninlined?.outputFiles).toEqual([
    { path: 'bin/made', digest: nameOf(file) },
    { path: 'bin/other', digest: nameOf(file) },
  ])
})

test('every timestamp is set and in order, although the worker reported none', async () => {
  const grid = await executionGrid()
  const stream = grid.execute(await grid.action())
  await stream.next()
  await grid.after(1000)
  const worker = grid.worker('w1')
  await until(() => worker.leases.length === 1)
  await grid.after(1000)
  worker.start()
  await grid.after(1000)
  await worker.finish(undefined, { result: resultOf() })
  const metadata = (await stream.rest()).at(-1)?.response?.result?.executionMetadata ?? {}
  expect(metadata.worker).toBe('w1')
  const names = ['queued', 'workerStart', 'inputFetchStart', 'inputFetchCompleted', 'executionStart']
  names.push('executionCompleted', 'outputUploadStart', 'outputUploadCompleted', 'workerCompleted')
  const times = names.map((name) => Date.parse(metadata[`${name}Timestamp`] ?? ''))
  expect(times).toEqual([0, 1, 1, 2, 2, 3, 3, 3, 3].map((seconds) => 1_700_000_000_000 + seconds * 1000))
})

test("the worker's timestamps are kept, and queued_timestamp is added", async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  await until(() => worker.leases.length === 1)
  const printed = {
    worker: 'its own name',
    workerStartTimestamp: '2023-11-14T22:13:19Z',
    virtualExecutionDuration: '1s',
  }
  await worker.finish(undefined, { result: resultOf({ executionMetadata: printed }) })
  expect((await stream.rest()).at(-1)?.response?.result?.executionMetadata).toEqual({
    ...printed,
    // The worker's clock is behind ours: the task cannot have started before it was queued.
    queuedTimestamp: '2023-11-14T22:13:19Z',
  })
})

test('tool_invocation_id becomes the invocation of a task, and malformed request metadata is ignored', async () => {
  const grid = await executionGrid()
  const header = 'build.bazel.remote.execution.v2.requestmetadata-bin'
  const noun = { toolName: 'bazel', toolVersion: '9', actionId: '', correlatedInvocationsId: '', actionMnemonic: '' }
  const good = requestMetadataToProto({ ...noun, toolInvocationId: 'build-1', targetId: '', configurationId: '' })
  await grid.execute(await grid.action(), { [header]: good }).next()
  await grid.execute(await grid.action({ action: { salt: 'AA==' } }), { [header]: Buffer.from([0xff, 0xff]) }).next()
  const { tasks } = await grid.engine.list(LOCAL_CALLER, {})
  expect(tasks.map(({ invocation }) => invocation)).toEqual(['', 'build-1'])
})

test('an idle Execute stream repeats the current operation after keepAliveMs', async () => {
  const grid = await executionGrid({ door: { limits: { keepAliveMs: 30_000 } } })
  const stream = grid.execute(await grid.action())
  const first = await stream.next()
  await until(() => grid.engine.figures().watches === 1)
  await grid.after(30_000)
  expect(await stream.next()).toEqual(first)
})

test('operation metadata names the log streams of stdout and stderr', async () => {
  const door = {
    logStreams(name: string) {
      const id = name.split('/').at(-1)
      return { stdout: `logstreams/${id}/out`, stderr: `logstreams/${id}/err` }
    },
  }
  const grid = await executionGrid({ door })
  const first = await grid.execute(await grid.action()).next()
  const id = first?.name.split('/').at(-1)
  expect(first?.metadata).toMatchObject({
    stdoutStreamName: `logstreams/${id}/out`,
    stderrStreamName: `logstreams/${id}/err`,
  })
})
