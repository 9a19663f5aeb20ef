import { afterAll, afterEach } from 'vitest'
import { systemClock as clock } from '../../src/app/process/clock.ts'
import type { ListenAddress } from '../../src/grpc/address.ts'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { createServer } from '../../src/grpc/server/server.ts'
import type { Method, Service } from '../../src/grpc/service.ts'
import type { BlobStore } from '../../src/storage/blob-store.ts'
import { threadPool } from '../../src/storage/bulk/thread-pool.ts'
import { openUpstream } from '../../src/storage/upstream/upstream.ts'
import { upstreamStore } from '../../src/storage/upstream/upstream-store.ts'
import { readReadRequest, readResponse } from '../../src/wire/hot/byte-stream.ts'
import { capabilitiesToProto } from '../../src/wire/reapi/capabilities.ts'

const bulk = threadPool(1)
afterAll(() => bulk.close())

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const timing = { now: clock.monotonic, after: clock.after }

type Methods = Partial<Record<'Find' | 'BatchRead' | 'BatchUpdate' | 'Read' | 'Write' | 'Capabilities', Method>>

/** A store over a server with only the methods that a test defines; all others are UNIMPLEMENTED. */
export async function over(methods: Methods, timeoutMs = 5000): Promise<BlobStore> {
  const { Find, BatchRead, BatchUpdate, Read, Write, Capabilities } = methods
  const named = (entries: Record<string, Method | undefined>): Record<string, Method> =>
    Object.fromEntries(Object.entries(entries).flatMap(([name, method]) => (method ? [[name, method]] : [])))
  const reapi = 'build.bazel.remote.execution.v2'
  const services: Service[] = [
    { name: `${reapi}.Capabilities`, methods: named({ GetCapabilities: Capabilities }) },
    {
      name: `${reapi}.ContentAddressableStorage`,
      methods: named({ FindMissingBlobs: Find, BatchReadBlobs: BatchRead, BatchUpdateBlobs: BatchUpdate }),
    },
    { name: 'google.bytestream.ByteStream', methods: named({ Read, Write }) },
  ]
  const server = createServer({ services, timing })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  closing.push(() => server.close())
  return storeAt(address, timeoutMs)
}

/** A store over the server at this address. */
export function storeAt(address: ListenAddress, timeoutMs = 5000): BlobStore {
  const channel = createChannel({ address, timing, minBackoffMs: 1 })
  closing.push(() => channel.close())
  let ids = 0
  const upstream = openUpstream({ channel, clock, timeoutMs, newId: () => `u${++ids}`, backoffMs: 1 })
  return upstreamStore({ upstream, instance: 'main', bulk })
}

export const answering = (message: Uint8Array): Method => ({ kind: 'unary', handle: () => message })

export const reading = (
  handle: (offset: number, send: (bytes: Uint8Array) => void) => void | Promise<void>,
): Method => ({
  kind: 'serverStreaming',
  handle: (bytes, out) => handle(readReadRequest(bytes).offset, (piece) => void out.write(readResponse(piece))),
})

const CACHE = {
  digestFunctions: ['sha256'],
  updateEnabled: true,
  priorities: [],
  maxBatchBytes: 4_000_000,
  maxBlobBytes: 0,
  absoluteSymlinks: 'allowed',
  compressors: [],
  batchUpdateCompressors: [],
  splitBlob: false,
  spliceBlob: false,
  fastCdc: undefined,
  repMaxCdc: undefined,
} as const

export const offering = (cache: { compressors?: readonly 'zstd'[]; maxBatchBytes?: number }): Method =>
  answering(
    capabilitiesToProto({
      cache: { ...CACHE, ...cache },
      execution: undefined,
      lowApiVersion: { major: 2, minor: 0 },
      highApiVersion: { major: 2, minor: 0 },
      deprecatedApiVersion: undefined,
    }),
  )
export const withZstd = offering({ compressors: ['zstd'] })
export const tinyBatches = offering({ maxBatchBytes: 1000 })
