import { Readable } from 'node:stream'
import { constants, createZstdCompress } from 'node:zlib'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import type { CacheCapabilities } from '../../model/capabilities.ts'
import type { Compressor } from '../../model/compressor.ts'
import type { PackedBlob } from '../../wire/reapi/cas-calls.ts'
import { formatReadName, formatWriteName } from '../../wire/reapi/resource-name.ts'
import type { RpcClient } from '../connection/rpc.ts'
import { casRpcs, WRITE_RPC } from './cas-rpcs.ts'

const NOT_FOUND = 5
const CALL_MS = 120_000
const PIECE_BYTES = 256 * 1024

export interface CasClientOptions {
  readonly rpcs: RpcClient
  readonly instance: string
  readonly fn: DigestFunction
  /** Names one try at an upload, different each time. */
  readonly newId: () => string
  readonly signal: AbortSignal
}

/** One instance of a content-addressable storage, over the Remote Execution API. */
export interface CasClient {
  readonly fn: DigestFunction
  offer(): Promise<CacheCapabilities>
  /** The digests that the server does not have, by `formatDigest`. */
  missing(digests: readonly Digest[]): Promise<Set<string>>
  /** Whole blobs in one message: `maxBatchBytes` of the offer together, at most. */
  updateMany(blobs: readonly PackedBlob[]): Promise<void>
  /** Reads several blobs in one call, by `formatDigest` and unverified. Absent blobs are left out. */
  readMany(digests: readonly Digest[]): Promise<Map<string, Uint8Array>>
  /** Has the server make a blob of chunks that it holds, which FastCDC cut. */
  splice(digest: Digest, chunks: readonly Digest[]): Promise<void>
  /** Unverified. */
  read(digest: Digest): AsyncIterable<Uint8Array>
  write(digest: Digest, pieces: AsyncIterable<Uint8Array>, compressor: Compressor): Promise<void>
}

export function casClient({ rpcs, instance, fn, newId, signal }: CasClientOptions): CasClient {
  const scope = { instance, fn }
  const unary = { signal, timeoutMs: CALL_MS }
  const calls = casRpcs(scope)
  let offered: Promise<CacheCapabilities> | undefined
  return {
    fn,
    offer: () => (offered ??= rpcs.unary(calls.capabilities, instance, unary).then(({ cache }) => cache)),
    missing: async (digests) => new Set((await rpcs.unary(calls.findMissing, digests, unary)).map(formatDigest)),
    async updateMany(blobs) {
      const outcomes = await rpcs.unary(calls.update, blobs, unary)
      const stored = new Set(outcomes.filter(({ code }) => code === 0).map(({ digest }) => formatDigest(digest)))
      const refused = blobs.find(({ digest }) => !stored.has(formatDigest(digest)))
      if (refused === undefined) return
      const outcome = outcomes.find(({ digest }) => formatDigest(digest) === formatDigest(refused.digest))
      throw new BlobRefused(refused.digest, outcome?.message ?? 'it did not say why')
    },
    async readMany(digests) {
      const found = new Map<string, Uint8Array>()
      for (const { digest, code, message, data } of await rpcs.unary(calls.readMany, digests, unary)) {
        if (code === 0) found.set(formatDigest(digest), data)
        else if (code !== NOT_FOUND) throw new BlobRefused(digest, message)
      }
      return found
    },
    splice: (blobDigest, chunks) => rpcs.unary(calls.splice, { blobDigest, chunks }, unary),
    read: (digest) => rpcs.stream(calls.read, formatReadName({ instance, digest, compressor: 'identity' }), { signal }),
    async write(digest, pieces, compressor) {
      const name = formatWriteName({ instance, uploadId: newId(), digest, compressor })
      const sent = compressor === 'zstd' ? zstdOf(pieces) : pieces
      const committed = await stream(rpcs, { name, pieces: sent, signal })
      if (compressor === 'identity' && committed !== digest.size)
        throw new BlobRefused(digest, `it committed ${committed} bytes`)
    },
  }
}

/** The server would not take or give one blob. */
export class BlobRefused extends FaultError {
  readonly digest: Digest

  constructor(digest: Digest, why: string) {
    super({ kind: 'unavailable', what: `the server refused ${formatDigest(digest)}: ${why}` })
    this.digest = digest
  }
}

interface Sending {
  readonly name: string
  readonly pieces: AsyncIterable<Uint8Array>
  readonly signal: AbortSignal
}

/** Answers the committed size. A server that has the blob already answers early: the rest is not sent then. */
async function stream(rpcs: RpcClient, { name, pieces, signal }: Sending): Promise<number> {
  const upload = rpcs.upload(WRITE_RPC, { signal })
  let isAnswered = false
  const answer = upload.answer.finally(() => {
    isAnswered = true
  })
  answer.catch(() => {})
  try {
    let offset = 0
    for await (const data of pieces) {
      if (isAnswered) return await answer
      for (let at = 0; at < data.length; at += PIECE_BYTES) {
        const part = data.subarray(at, at + PIECE_BYTES)
        await upload.write({ resourceName: offset === 0 ? name : '', offset, isLast: false, data: part })
        offset += part.length
      }
    }
    await upload.write({ resourceName: offset === 0 ? name : '', offset, isLast: true, data: new Uint8Array(0) })
    upload.finish()
    return await answer
  } finally {
    if (!isAnswered) upload.cancel()
  }
}

const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

const zstdOf = (pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  Readable.from(pieces, { objectMode: false }).compose(createZstdCompress(FAST)) as AsyncIterable<Uint8Array>
