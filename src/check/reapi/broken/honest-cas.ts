import { GrpcError, STATUS } from '../../../grpc/status.ts'
import type { BatchUpdateBlobsRequest_Request } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Status } from '../../../wire/gen/google/rpc/status.ts'
import { compressorNumbered, type TestedCompressor } from '../probe/compressors.ts'
import type { Methods } from './methods.ts'
import { MAX_BATCH_BYTES } from './profile.ts'
import { invalidArgument, type Store, storeKey } from './store.ts'

type CasMethods = Pick<Methods, 'findMissingBlobs' | 'batchUpdateBlobs' | 'batchReadBlobs'>

const statusOf = (code: number, message = ''): Status => ({ code, message, details: [] })

/** The failure of one item does not affect the others. */
function attempt(action: () => void): Status {
  try {
    action()
    return statusOf(STATUS.ok)
  } catch (error) {
    if (error instanceof GrpcError) return statusOf(error.code, error.message)
    throw error
  }
}

function bounded(sizes: readonly number[]): void {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total > MAX_BATCH_BYTES) throw invalidArgument(`${total} bytes are more than ${MAX_BATCH_BYTES}`)
}

export const decompressed = (compressor: TestedCompressor, bytes: Uint8Array): Uint8Array => {
  try {
    return compressor.decompress(bytes)
  } catch (error) {
    throw invalidArgument(String(error))
  }
}

function plainBytes({ compressor, data }: BatchUpdateBlobsRequest_Request): Uint8Array {
  if (compressor === 0) return data
  const known = compressorNumbered(compressor)
  if (known === undefined) throw invalidArgument(`no compressor ${compressor}`)
  return decompressed(known, data)
}

export const honestCas = (store: Store): CasMethods => ({
  findMissingBlobs({ blobDigests, digestFunction }) {
    const keys = new Map(blobDigests.map((digest) => storeKey(digest, digestFunction)).map((key) => [key.text, key]))
    if (new Set([...keys.values()].map(({ fn }) => fn)).size > 1) throw invalidArgument('digests of several functions')
    const missing = [...keys.values()].filter((key) => !store.has(key))
    return { missingBlobDigests: missing.map(({ digest }) => digest) }
  },
  batchUpdateBlobs({ requests, digestFunction }) {
    bounded(requests.map(({ data }) => data.length))
    return {
      responses: requests.map((request) => ({
        digest: request.digest,
        status: attempt(() => store.put(storeKey(request.digest, digestFunction), plainBytes(request))),
      })),
    }
  },
  batchReadBlobs({ digests, acceptableCompressors, digestFunction }) {
    bounded(digests.map(({ sizeBytes }) => sizeBytes))
    const compressor = acceptableCompressors.map(compressorNumbered).find((each) => each !== undefined)
    return {
      responses: digests.map((digest) => {
        let bytes: Uint8Array | undefined
        const status = attempt(() => {
          bytes = store.get(storeKey(digest, digestFunction))
        })
        if (status.code !== STATUS.ok) return { digest, data: new Uint8Array(), compressor: 0, status }
        if (bytes === undefined) {
          return { digest, data: new Uint8Array(), compressor: 0, status: statusOf(STATUS.notFound) }
        }
        if (compressor === undefined) return { digest, data: bytes, compressor: 0, status }
        return { digest, data: compressor.compress(bytes), compressor: compressor.number, status }
      }),
    }
  },
})
