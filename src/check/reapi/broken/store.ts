import { GrpcError, STATUS } from '../../../grpc/status.ts'
import type { Digest } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { DIGEST_FNS, type DigestFn } from '../probe/digest-functions.ts'

export const invalidArgument = (what: string): GrpcError => new GrpcError(STATUS.invalidArgument, what)
export const notFound = (what: string): GrpcError => new GrpcError(STATUS.notFound, what)

/** A valid digest with its digest function. */
export interface StoreKey {
  readonly fn: DigestFn
  readonly digest: Digest
  readonly text: string
}

/** The named digest function, or the one that the length of the hash implies. */
export function storeKey(digest: Digest | undefined, functionNumber = 0): StoreKey {
  if (digest === undefined) throw invalidArgument('a digest is not set')
  const { hash, sizeBytes } = digest
  const fn = DIGEST_FNS.find(({ number, segment, hexLength }) =>
    functionNumber === 0 ? segment === '' && hexLength === hash.length : number === functionNumber,
  )
  if (fn === undefined) throw invalidArgument(`no digest function ${functionNumber} for ${hash.length} digits`)
  if (hash.length !== fn.hexLength || !/^[0-9a-f]*$/.test(hash))
    throw invalidArgument(`${hash} is no hash of ${fn.name}`)
  if (sizeBytes < 0) throw invalidArgument(`${sizeBytes} is no size`)
  return { fn, digest, text: `${fn.name}/${hash}/${sizeBytes}` }
}

/** Blobs in memory. */
export interface Store {
  has(key: StoreKey): boolean
  get(key: StoreKey): Uint8Array | undefined
  /** Throws when the bytes do not match the digest. */
  put(key: StoreKey, bytes: Uint8Array): void
  /** Stores any bytes under the digest, for defects. */
  force(key: StoreKey, bytes: Uint8Array): void
  /** A blob with this hash and any size, for defects. */
  sameHash(key: StoreKey): Uint8Array | undefined
}

export function createStore(): Store {
  const blobs = new Map<string, Uint8Array>()
  const byHash = new Map<string, Uint8Array>()
  const isEmpty = ({ digest, fn }: StoreKey): boolean =>
    digest.sizeBytes === 0 && digest.hash === fn.hash(new Uint8Array())
  const force = (key: StoreKey, bytes: Uint8Array): void => {
    const copy = Buffer.from(bytes)
    blobs.set(key.text, copy)
    byHash.set(`${key.fn.name}/${key.digest.hash}`, copy)
  }
  return {
    has: (key) => blobs.has(key.text) || isEmpty(key),
    get: (key) => blobs.get(key.text) ?? (isEmpty(key) ? new Uint8Array() : undefined),
    put(key, bytes) {
      if (bytes.length !== key.digest.sizeBytes) throw invalidArgument(`${bytes.length} bytes for ${key.text}`)
      if (key.fn.hash(bytes) !== key.digest.hash) throw invalidArgument(`other bytes than ${key.text}`)
      force(key, bytes)
    },
    force,
    sameHash: ({ fn, digest }) => byHash.get(`${fn.name}/${digest.hash}`),
  }
}
