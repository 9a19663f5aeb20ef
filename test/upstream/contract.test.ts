import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/app/process/clock.ts'
import { connect } from '../../src/client/connection/connect.ts'
import { parseTarget, type Target } from '../../src/client/connection/target.ts'
import { reapiDoor } from '../../src/doors/grpc/cache/door.ts'
import type { Channel } from '../../src/grpc/client/channel.ts'
import { createServer, type GrpcServer } from '../../src/grpc/server/server.ts'
import type { Instance } from '../../src/services/instances/instances.ts'
import type { ActionCache } from '../../src/storage/action-cache.ts'
import { actionCacheContract } from '../../src/storage/action-cache-contract.ts'
import type { BlobStore } from '../../src/storage/blob-store.ts'
import { bytesOf, digestOf, holds, putOne, streamOf, upload } from '../../src/storage/blobs.fixture.ts'
import type { BulkPool } from '../../src/storage/bulk/bulk-pool.ts'
import { threadPool } from '../../src/storage/bulk/thread-pool.ts'
import { blobStoreContract } from '../../src/storage/contract.ts'
import { memoryActionCache } from '../../src/storage/memory-action-cache.ts'
import { memoryStore } from '../../src/storage/memory-store.ts'
import { openUpstream, type Upstream } from '../../src/storage/upstream/upstream.ts'
import { upstreamActionCache } from '../../src/storage/upstream/upstream-action-cache.ts'
import { upstreamStore } from '../../src/storage/upstream/upstream-store.ts'
import { verifying } from '../../src/storage/verification/verifying.ts'

/** The upstream drivers against our own server, with a separate instance for every test. */
let server: GrpcServer
let channel: Channel
let bulk: BulkPool
let upstream: Upstream
const instances = new Map<string, Instance>()
let made = 0

beforeAll(async () => {
  bulk = threadPool(1)
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  server = createServer({ services: reapiDoor({ instances: instanceOf, clock: systemClock }), timing })
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  if (!('port' in bound)) throw new Error('no port')
  channel = connect(parseTarget(`grpc://127.0.0.1:${bound.port}`) as Target, { clock: systemClock })
  let ids = 0
  upstream = openUpstream({ channel, clock: systemClock, timeoutMs: 20_000, newId: () => `upload-${++ids}` })
})

afterAll(async () => {
  channel.close()
  server.close()
  await bulk.close()
})

function instanceOf(name: string): Instance {
  const known = instances.get(name)
  if (known !== undefined) return known
  const blobs = memoryStore()
  const actions = memoryActionCache()
  const instance: Instance = {
    blobs,
    uploads: verifying(bulk)(blobs),
    actions,
    unnamedFunction: 'sha256',
  }
  instances.set(name, instance)
  return instance
}

const freshStore = (): BlobStore => upstreamStore({ upstream, instance: `space/${++made}`, bulk })

/**
 * Contract cases that a remote server, which verifies and compresses, does differently than a store in this process.
 */
const OTHERWISE: Readonly<Record<string, string>> = {
  'what differs only in the function, as two blobs': 'a server refuses bytes that do not match their digest',
  'apart from plain blobs, which stay as they are': 'a server packs for whoever reads zstd',
  'the digest of a blob under %s, and nothing of another function': 'the protocol has no look by hash alone',
  'a blob of any size, however it came, and only once it is committed': 'the protocol has no look by hash alone',
  'one of a thousand, and none whose hash differs in a digit': 'the protocol has no look by hash alone',
}

describe('the upstream blob store contract', () => {
  beforeEach(({ task, skip }) => {
    const name = task.name.replace(/under (sha|md)\d+/, 'under %s')
    const why = OTHERWISE[name]
    if (why !== undefined) skip(why)
  })
  blobStoreContract('upstream', freshStore)
})

describe('the upstream blob store', () => {
  test('finds nothing by hash alone', async () => {
    const store = freshStore()
    const { fn, hash } = await putOne(store, Buffer.from('here'))
    expect(await store.find(fn, hash)).toBeUndefined()
  })

  test('keeps blobs with equal hashes of different functions apart', async () => {
    const store = freshStore()
    // Up to 1 KiB, SHA256TREE equals SHA-256: one hash, two names.
    const digest = await putOne(store, Buffer.from('small'))
    expect(await holds(store, digest)).toBe(true)
    expect(await holds(store, { ...digest, fn: 'sha256tree' })).toBe(false)
  })

  test('reads a plain blob as zstd on request, and as identical bytes either way', async () => {
    const store = freshStore()
    const bytes = Buffer.from('over and over; '.repeat(100_000))
    const digest = await putOne(store, bytes)
    const packed = await streamOf(store, digest, { offset: 0, acceptZstd: true })
    expect(packed?.form).toBe('zstd')
    expect(packed?.bytes.length).toBeLessThan(bytes.length / 10)
    expect((await bytesOf(store, digest))?.equals(bytes)).toBe(true)
  })

  test("returns the server's error for bytes that do not match their digest", async () => {
    const store = freshStore()
    const wrong = { ...digestOf(Buffer.from('one')), size: 3 }
    await expect(upload(store, { digest: wrong, bytes: Buffer.from('two') })).rejects.toMatchObject({
      fault: { kind: 'invalid', what: expect.stringContaining('INVALID_ARGUMENT') },
    })
    await expect(
      upload(store, {
        digest: digestOf(Buffer.alloc(100_000)),
        bytes: zstdCompressSync(Buffer.alloc(99_999)),
        form: 'zstd',
      }),
    ).rejects.toMatchObject({ fault: { kind: 'invalid' } })
  })
})

/** A server accepts only an ActionResult, so the contract's values are sent as the stdout of one. */
const asResults = (inner: ActionCache): ActionCache => ({
  async get(instance, action) {
    const result = await inner.get(instance, action)
    if (result === undefined) return undefined
    let at = WORKER.length + 1
    let length = 0
    for (let shift = 0, byte = 0x80; byte >= 0x80; shift += 7) {
      byte = result[at++] as number
      length += (byte & 0x7f) * 2 ** shift
    }
    return result.subarray(at, at + length)
  },
  put(instance, action, text) {
    const varint: number[] = []
    for (let rest = text.length; ; rest = Math.floor(rest / 128)) {
      varint.push(rest < 128 ? rest : (rest % 128) + 128)
      if (rest < 128) break
    }
    return inner.put(instance, action, Buffer.concat([WORKER, Buffer.of(0x2a, ...varint), text]))
  },
})

/** The worker in the metadata, which the server would otherwise add. */
const WORKER = Buffer.of(0x4a, 3, 0x0a, 1, 0x77)

describe('the upstream action cache contract', () => {
  beforeEach(({ task, skip }) => {
    if (task.name.startsWith('ignores the size')) skip('the protocol names actions by hash and size')
  })
  actionCacheContract('upstream', () => {
    const number = ++made
    return asResults(upstreamActionCache({ upstream, instanceThere: (name) => `results/${number}/${name || 'none'}` }))
  })
})

test('an action of unknown size is neither requested from an upstream nor sent to it', async () => {
  const cache = upstreamActionCache({ upstream, instanceThere: (name) => name })
  const name = { fn: 'sha256', hash: 'ab'.repeat(32) } as const
  expect(await cache.get('main', name)).toBeUndefined()
  await expect(cache.put('main', name, WORKER)).rejects.toMatchObject({ fault: { why: 'unsupported' } })
})

test('an upstream refuses an invalid result, and adds the worker to a result without one', async () => {
  const cache = upstreamActionCache({ upstream, instanceThere: (name) => name })
  const action = digestOf(Buffer.from('an action'))
  await expect(cache.put('main', action, Buffer.from('exit 0'))).rejects.toMatchObject({ fault: { kind: 'invalid' } })
  await cache.put('main', action, Buffer.of(0x2a, 2, 0x68, 0x69))
  const answer = Buffer.from((await cache.get('main', action)) as Uint8Array)
  expect(answer.subarray(0, 4)).toEqual(Buffer.of(0x2a, 2, 0x68, 0x69))
  expect(answer.includes('unknown')).toBe(true)
})
