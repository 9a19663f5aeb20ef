import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { ClientCall } from '../../grpc/client/client-call.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import { readWriteResponse, writeRequest } from '../../wire/calls/byte-stream.ts'
import { formatWriteName } from '../../wire/reapi/resource-name.ts'
import type { BlobWriter, StoredForm } from '../blob-store.ts'
import { decompressing } from '../zstd.ts'
import type { Upstream } from './upstream.ts'
import { understood, untrue, upstreamFault } from './upstream-fault.ts'

/** The most bytes in one message; the default message limit of gRPC is 4 MiB. */
const PIECE_BYTES = 1024 * 1024
const PATH = '/google.bytestream.ByteStream/Write'
const NOTHING = new Uint8Array(0)

export interface UploadTarget {
  readonly instance: string
  readonly digest: Digest
  readonly form: StoredForm
}

/**
 * Uploads one blob by ByteStream.Write. `write` resolves when the piece is sent, so the upstream's flow control limits
 * the rate. An upstream that already has the blob may answer early: the rest is then discarded, and the commit
 * succeeds.
 */
export function streamedUpload(upstream: Upstream, target: UploadTarget): BlobWriter {
  const { instance, digest, form } = target
  const name = formatWriteName({ instance, digest, compressor: form, uploadId: upstream.newId() })
  let call: ClientCall | undefined
  let sent = 0

  const send = async (data: Uint8Array, finish: boolean): Promise<ClientCall> => {
    const resourceName = call === undefined ? name : ''
    call ??= upstream.channel.open(PATH)
    call.write(writeRequest({ resourceName, offset: sent, finish, data }))
    sent += data.length
    await upstream.within(call, call.sent())
    return call
  }

  return {
    async write(bytes) {
      try {
        for (let at = 0; at < bytes.length; at += PIECE_BYTES) await send(bytes.subarray(at, at + PIECE_BYTES), false)
      } catch (error) {
        if (!isThereAlready(error)) throw upstreamFault(error)
      }
    },
    async commit() {
      try {
        const finished = await send(NOTHING, true)
        finished.finish()
        const answer = await upstream.within(finished, finished.next())
        await finished.trailers
        const committed = understood(() => readWriteResponse(answer ?? NOTHING))
        if (!isWhole(committed, target, sent)) {
          throw untrue(`the upstream took ${committed} bytes of ${formatDigest(digest)}`)
        }
      } catch (error) {
        if (!isThereAlready(error)) throw upstreamFault(error)
      }
    },
    abort: () => call?.cancel('the upload was given up'),
  }
}

const isThereAlready = (error: unknown): boolean => error instanceof GrpcError && error.code === STATUS.alreadyExists

/**
 * For a compressed upload, servers report the received bytes, the size of the blob, or -1 if they already had the blob.
 */
const isWhole = (committed: number, { digest, form }: UploadTarget, sent: number): boolean =>
  committed === digest.size || (form === 'zstd' && (committed === sent || committed === -1))

/**
 * Accepts zstd for an upstream without zstd support: decompresses it and writes the result to `inner`, piece by piece.
 */
export function unpackingUpload(inner: BlobWriter, { size }: Digest): BlobWriter {
  const handed = handover()
  let have = 0
  const unpacked = (async () => {
    for await (const piece of decompressing(handed.pieces)) {
      have += piece.length
      if (have > size) throw invalid(`the zstd unpacks to more than the ${size} bytes of its digest`)
      await inner.write(piece)
    }
  })().catch((error: unknown) => {
    throw error instanceof FaultError ? error : invalid(`the data is not zstd: ${(error as Error).message}`)
  })
  unpacked.catch(() => {})
  return {
    write: (bytes) => Promise.race([handed.give(Uint8Array.from(bytes)), unpacked]),
    async commit() {
      handed.end()
      await unpacked
      await inner.commit()
    },
    abort() {
      handed.end()
      inner.abort()
    },
  }
}

/** Passes pieces from the producer to the consumer, one at a time. */
function handover() {
  let waiting: { piece: Uint8Array | undefined; taken: () => void } | undefined
  let came = Promise.withResolvers<void>()
  const offer = (piece: Uint8Array | undefined): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting = { piece, taken: resolve }
    came.resolve()
    return promise
  }
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      await came.promise
      came = Promise.withResolvers<void>()
      const { piece, taken } = waiting ?? { piece: undefined, taken() {} }
      if (piece === undefined) return
      yield piece
      taken()
    }
  }
  return { pieces: pieces(), give: offer, end: () => void offer(undefined) }
}

/** A writer that can be used before it is known which writer it is. Its calls wait for `decided`. */
export function eventualWriter(decided: Promise<BlobWriter>): BlobWriter {
  decided.catch(() => {})
  return {
    write: async (bytes) => await (await decided).write(bytes),
    commit: async () => await (await decided).commit(),
    abort: () => void decided.then((writer) => writer.abort()).catch(() => {}),
  }
}
