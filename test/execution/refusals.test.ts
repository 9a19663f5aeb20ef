import type { JsonObject } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import type { DigestList } from '../../src/base/digest.ts'
import { until } from '../../src/engine/grid.fixture.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import { digestOf } from '../../src/storage/blobs.fixture.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { type ActionParts, executionGrid, memoryInstance, refusal, TRUE } from './execution-grid.ts'
import { encoded, nameOf, resultOf } from './messages.ts'

const violation = (bytes: Uint8Array) => {
  const { hash, size } = digestOf(bytes)
  return { type: 'MISSING', subject: `blobs/${hash}/${size}`, description: '' }
}

test('Execute of a missing action is FAILED_PRECONDITION with one violation, which names it', async () => {
  const grid = await executionGrid()
  const nowhere = Buffer.from('nowhere')
  const { code, details } = await refusal(grid.execute({ actionDigest: nameOf(nowhere) }).rest())
  expect(code).toBe(9)
  expect(details).toEqual([{ kind: 'PreconditionFailure', violations: [violation(nowhere)] }])
})

test('Execute names every missing command, directory and file once, in one PreconditionFailure', async () => {
  const grid = await executionGrid()
  const [lib, src, a, b] = [{}, {}, 'a', 'b'].map((part, index) =>
    typeof part === 'string'
      ? Buffer.from(part)
      : encoded('Directory', { symlinks: [{ name: `l${index}`, target: 'x' }] }),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array]
  const held = encoded('Directory', {
    files: [
      { name: 'a', digest: nameOf(a) },
      { name: 'again', digest: nameOf(a) },
    ],
    directories: [{ name: 'src', digest: nameOf(src) }],
  })
  await grid.put(held)
  const root: JsonObject = {
    files: [{ name: 'b', digest: nameOf(b) }],
    directories: [
      { name: 'held', digest: nameOf(held) },
      { name: 'lib', digest: nameOf(lib) },
    ],
  }
  const command = encoded('Command', { arguments: ['never stored'] })
  const request = await grid.action({ root, action: { commandDigest: nameOf(command) } })
  const { code, details } = await refusal(grid.execute(request).rest())
  expect(code).toBe(9)
  expect(details).toHaveLength(1)
  const [detail] = details
  const subjects = detail?.kind === 'PreconditionFailure' ? detail.violations : []
  expect(subjects).toHaveLength(5)
  expect(new Set(subjects)).toEqual(new Set([command, lib, src, a, b].map(violation)))
  expect((await grid.engine.list(LOCAL_CALLER, {})).tasks).toEqual([])
})

test("Execute names 1,000 missing blobs in the operation's status, because they do not fit into trailers", async () => {
  const grid = await executionGrid()
  const blobs = Array.from({ length: 1000 }, (_, index) => Buffer.from(`blob ${index}`))
  const files = blobs.map((bytes, index) => ({ name: String(index).padStart(4, '0'), digest: nameOf(bytes) }))
  const request = await grid.action({ root: { files } })
  const messages = await grid.execute(request).rest()
  expect(messages).toMatchObject([{ done: true, metadata: { stage: 'COMPLETED' }, response: { status: { code: 9 } } }])
  const details = messages[0]?.response?.status?.details ?? []
  expect(details).toHaveLength(1)
  expect(details[0]?.violations).toEqual(blobs.map((bytes) => ({ type: 'MISSING', subject: violation(bytes).subject })))
  expect((await refusal(grid.waitExecution(messages[0]?.name ?? '').rest())).code).toBe(5)
})

test('Execute names a missing input root', async () => {
  const grid = await executionGrid()
  const root = encoded('Directory', { symlinks: [{ name: 'nowhere', target: 'x' }] })
  const request = await grid.action({ action: { inputRootDigest: nameOf(root) } })
  const { details } = await refusal(grid.execute(request).rest())
  expect(details).toMatchObject([{ violations: [violation(root)] }])
})

test('the empty blob is never missing, as a file, a directory or an input root', async () => {
  const grid = await executionGrid()
  const empty = nameOf(new Uint8Array())
  const root = { files: [{ name: 'a', digest: empty }], directories: [{ name: 'b', digest: empty }] }
  expect((await grid.execute(await grid.action({ root })).next())?.metadata.stage).toBe('QUEUED')
  expect((await grid.execute(await grid.action({ action: { inputRootDigest: empty } })).next())?.done).toBeUndefined()
})

test('inputs that were evicted while the task ran are named in the final status', async () => {
  // The store evicts the least recently used blobs: it has space for the action and little more.
  const instance = memoryInstance()
  const small = memoryStore({ maxBytes: 2000 })
  const grid = await executionGrid({ instance: { ...instance, blobs: small, uploads: small } })
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  await until(() => worker.leases.length === 1)
  await grid.put(Buffer.alloc(1900, 'x'))
  await worker.finish(undefined, { outcome: { kind: 'fault', what: 'inputs are gone', final: true } })
  const { response } = (await stream.rest()).at(-1) ?? {}
  expect(response?.status).toMatchObject({ code: 9 })
  const details = response?.status?.details ?? []
  expect(details).toHaveLength(1)
  expect(details[0]).toMatchObject({
    '@type': 'type.googleapis.com/google.rpc.PreconditionFailure',
    violations: [{ type: 'MISSING', subject: expect.stringMatching(/^blobs\/[0-9a-f]{64}\/\d+$/) }],
  })
})

test('Execute checks a complete tree only once in ten seconds, and in between only its new files', async () => {
  const instance = memoryInstance()
  const asked: number[] = []
  const blobs = {
    ...instance.blobs,
    missing(list: DigestList, absent: Uint8Array) {
      asked.push(list.count)
      return instance.blobs.missing(list, absent)
    },
  }
  const grid = await executionGrid({ instance: { ...instance, blobs } })
  const files = ['a', 'b', 'c'].map((name) => ({ name, digest: nameOf(Buffer.from(name)) }))
  const shared = encoded('Directory', { files })
  await grid.put(shared, ...['a', 'b', 'c', 'new'].map((name) => Buffer.from(name)))
  const root = { directories: [{ name: 'shared', digest: nameOf(shared) }] }
  const rootWith = { ...root, files: [{ name: 'new', digest: nameOf(Buffer.from('new')) }] }
  const filesAsked = async (parts: ActionParts) => {
    asked.length = 0
    await grid.execute({ ...(await grid.action(parts)), skipCacheLookup: true }).next()
    return asked.reduce((sum, count) => sum + count, 0) // the command is read, not looked up
  }
  expect(await filesAsked({ root })).toBe(3)
  expect(await filesAsked({ root })).toBe(0)
  expect(await filesAsked({ root: rootWith })).toBe(1)
  await grid.after(10_000)
  expect(await filesAsked({ root: rootWith })).toBe(4)
})

test.each<[string, JsonObject, JsonObject]>([
  ['no program', { arguments: [] }, {}],
  ['an empty program', { arguments: [''] }, {}],
  ['a working directory that leads out', { ...TRUE, workingDirectory: 'a/../..' }, {}],
  ['an absolute working directory', { ...TRUE, workingDirectory: '/etc' }, {}],
  ['an output that leads out', { ...TRUE, workingDirectory: 'a', outputPaths: ['../../etc/passwd'] }, {}],
  ['an absolute output', { ...TRUE, outputFiles: ['/etc/passwd'] }, {}],
  ['a NUL in an argument', { arguments: ['a\0b'] }, {}],
  ['a variable without a name', { ...TRUE, environmentVariables: [{ name: '', value: 'x' }] }, {}],
  ['a variable named like an assignment', { ...TRUE, environmentVariables: [{ name: 'A=B', value: 'x' }] }, {}],
  ['a node property that is unknown', { ...TRUE, outputNodeProperties: ['colour'] }, {}],
  ['a negative timeout', TRUE, { timeout: '-1s' }],
  ['a timeout beyond the longest allowed', TRUE, { timeout: '90000s' }],
])('Execute of a command with %s is INVALID_ARGUMENT, and nothing is queued', async (_, command, action) => {
  const grid = await executionGrid()
  const request = await grid.action({ command, action })
  expect((await refusal(grid.execute(request).rest())).code).toBe(3)
  expect((await grid.engine.list(LOCAL_CALLER, {})).tasks).toEqual([])
})

test('Execute with a blob that is no Action, Command or Directory is INVALID_ARGUMENT', async () => {
  const grid = await executionGrid()
  const junk = Buffer.from([0xff, 0xff, 0xff])
  await grid.put(junk)
  const cases = [
    { actionDigest: nameOf(junk) },
    { actionDigest: nameOf(new Uint8Array()) },
    await grid.action({ action: { commandDigest: nameOf(junk) } }),
    await grid.action({ action: { inputRootDigest: nameOf(junk) } }),
  ]
  for (const request of cases) expect((await refusal(grid.execute(request).rest())).code).toBe(3)
})

test('an ExecuteRequest that is malformed or has an invalid digest or instance is INVALID_ARGUMENT', async () => {
  const grid = await executionGrid()
  expect((await refusal(grid.executeRaw(Buffer.from([0x0a, 0xff])).rest())).code).toBe(3)
  const { actionDigest } = await grid.action()
  const cases: JsonObject[] = [
    {},
    { actionDigest: { hash: actionDigest.hash.toUpperCase(), sizeBytes: actionDigest.sizeBytes } },
    { actionDigest: { hash: 'abc', sizeBytes: '1' } },
    { actionDigest, digestFunction: 'MD5' },
    { actionDigest, digestFunction: 'VSO' },
    { actionDigest, instanceName: 'a/operations/b' },
  ]
  for (const request of cases)
    expect((await refusal(grid.execute(request).rest())).code, JSON.stringify(request)).toBe(3)
})

test('Execute of an action digest of 1 TiB is refused without reading the blob into memory', async () => {
  const grid = await executionGrid()
  const { hash } = nameOf(Buffer.from('x'))
  const request = { actionDigest: { hash, sizeBytes: '1099511627776' } }
  expect((await refusal(grid.execute(request).rest())).code).toBe(3)
})

test('Execute with 300 platform properties is INVALID_ARGUMENT', async () => {
  const grid = await executionGrid()
  const properties = Array.from({ length: 300 }, (_, index) => ({ name: `p${index}`, value: 'x' }))
  const request = await grid.action({ action: { platform: { properties } } })
  expect((await refusal(grid.execute(request).rest())).code).toBe(3)
})

test('an action digest with a wrong size is another blob, and missing', async () => {
  const grid = await executionGrid()
  const { hash, sizeBytes } = (await grid.action()).actionDigest
  const request = { actionDigest: { hash, sizeBytes: String(Number(sizeBytes) + 1) } }
  expect((await refusal(grid.execute(request).rest())).code).toBe(9)
})

test('Execute reports a missing input again until it is uploaded', async () => {
  const grid = await executionGrid()
  const file = Buffer.from('late')
  const request = await grid.action({ root: { files: [{ name: 'late', digest: nameOf(file) }] } })
  expect((await refusal(grid.execute(request).rest())).code).toBe(9)
  expect((await refusal(grid.execute(request).rest())).code).toBe(9)
  await grid.put(file)
  expect((await grid.execute(request).next())?.metadata.stage).toBe('QUEUED')
})

test('Execute refuses an input tree above maxDirectories or maxFiles', async () => {
  const grid = await executionGrid({ door: { limits: { maxDirectories: 2, maxFiles: 2 } } })
  const leaf = encoded('Directory', { symlinks: [{ name: 'x', target: 'y' }] })
  const middle = encoded('Directory', { directories: [{ name: 'leaf', digest: nameOf(leaf) }] })
  const file = Buffer.from('file')
  await grid.put(leaf, middle, file)
  const deep = await grid.action({ root: { directories: [{ name: 'middle', digest: nameOf(middle) }] } })
  const files = ['a', 'b', 'c'].map((name) => ({ name, digest: nameOf(file) }))
  for (const request of [deep, await grid.action({ root: { files } })]) {
    expect((await refusal(grid.execute(request).rest())).message).toMatch(/^the input tree has more than 2 /)
  }
})

test('Execute with a full queue is RESOURCE_EXHAUSTED, with a retry delay', async () => {
  const grid = await executionGrid({ engine: { scheduler: { maxQueued: 1 } } })
  await grid.execute(await grid.action()).next()
  const more = await grid.action({ action: { salt: 'AA==' } })
  const { code, details } = await refusal(grid.execute(more).rest())
  expect(code).toBe(8)
  expect(details).toMatchObject([{ kind: 'RetryInfo', retryDelayMs: expect.any(Number) }])
  expect(details[0]?.kind === 'RetryInfo' && details[0].retryDelayMs).toBeGreaterThanOrEqual(1000)
})

test('with refuseUnknownProperties, Execute names the property that no worker ever offered', async () => {
  const grid = await executionGrid({ engine: { scheduler: { refuseUnknownProperties: true } } })
  grid.worker('w1')
  const platform = { properties: [{ name: 'colour', value: 'green' }] }
  const { code, message } = await refusal(grid.execute(await grid.action({ action: { platform } })).rest())
  expect(code).toBe(3)
  expect(message).toContain('colour')
})

test.each([
  ['offers', 'OSFamily'],
  ['ever offered', 'accelerator'],
])(
  'a task whose property no worker %s fails with FAILED_PRECONDITION after the grace time, naming %s',
  async (_, name) => {
    const grid = await executionGrid()
    grid.worker('w1')
    const platform = { properties: [{ name, value: 'plan9' }] }
    const stream = grid.execute(await grid.action({ action: { platform } }))
    await stream.next()
    await until(() => grid.engine.figures().watches === 1)
    for (let seconds = 0; seconds < 60; seconds += 10) {
      await grid.after(10_000)
      grid.engine.workers.heartbeat('w1')
    }
    await grid.after(1000)
    const { response, error } = (await stream.rest()).at(-1) ?? {}
    expect(error).toBeUndefined()
    expect(response?.status?.code).toBe(9)
    expect(response?.status?.message).toContain(`${name}=plan9`)
    expect(response?.message).toBe(response?.status?.message)
    expect(response?.result).toBeUndefined()
  },
)

test('a task that failed on every retry is UNAVAILABLE', async () => {
  const grid = await executionGrid({ engine: { scheduler: { retry: RETRY_ONCE } } })
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  for (const _ of ['once', 'and once more']) {
    await until(() => worker.leases.length === 1)
    await worker.finish(undefined, { outcome: { kind: 'fault', what: 'the disk is full' } })
    await grid.after(1000)
  }
  const { response } = (await stream.rest()).at(-1) ?? {}
  expect(response?.status).toMatchObject({ code: 14, message: expect.stringContaining('the disk is full') })
})

const RETRY_ONCE = {
  maxRetries: 1,
  maxLostWorkers: 3,
  firstDelayMs: 1000,
  maxDelayMs: 1000,
  onTimeout: false,
  onFailure: false,
}

test('a final fault is FAILED_PRECONDITION after one attempt', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const stream = grid.execute(await grid.action())
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { outcome: { kind: 'fault', what: 'an output is in the way', final: true } })
  const { response } = (await stream.rest()).at(-1) ?? {}
  expect(response?.status).toMatchObject({ code: 9, message: expect.stringContaining('an output is in the way') })
  expect(response?.status?.details).toBeUndefined()
})

test('a task that lost four workers is UNAVAILABLE', async () => {
  const grid = await executionGrid()
  const stream = grid.execute(await grid.action())
  await stream.next()
  for (const id of ['w1', 'w2', 'w3', 'w4']) {
    const worker = grid.worker(id)
    await until(() => worker.leases.length === 1)
    worker.start()
    grid.engine.workers.disconnected(id, worker.session)
    await grid.after(20_000)
  }
  const { response } = (await stream.rest()).at(-1) ?? {}
  expect(response?.status).toMatchObject({ code: 14, message: expect.stringContaining('w1 and w2 and w3 and w4') })
})

test('a malformed ActionResult is INTERNAL, and is not cached', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const request = await grid.action()
  const stream = grid.execute(request)
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { result: Buffer.from([0xff, 0xff]) })
  expect((await stream.rest()).at(-1)?.response?.status?.code).toBe(13)
  expect((await grid.execute(request).next())?.done).toBeUndefined()
})

test('a result with a non-zero exit code is not cached, although its worker reports a success', async () => {
  const grid = await executionGrid()
  const worker = grid.worker('w1')
  const request = await grid.action()
  const stream = grid.execute(request)
  await until(() => worker.leases.length === 1)
  await worker.finish(undefined, { result: resultOf({ exitCode: 1 }) })
  await stream.rest()
  expect((await grid.execute(request).next())?.done).toBeUndefined()
})
