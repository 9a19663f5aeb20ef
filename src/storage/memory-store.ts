import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from '../base/digest.ts'
import type { BlobStore, ReadRange, StoredForm } from './blob-store.ts'
import { decompressedNow } from './zstd.ts'

interface Held {
  readonly form: StoredForm
  readonly bytes: Uint8Array
}

/** Stores blobs in memory, for tests and for servers without persistence. Evicts the least recently touched first. */
export function memoryStore({ maxBytes = Number.POSITIVE_INFINITY } = {}): BlobStore {
  const held = new HeldBlobs(maxBytes)
  return {
    missing(list, absent) {
      for (let i = 0; i < list.count; i++) absent[i] = held.touched(keyAt(list, i)) === undefined ? 1 : 0
    },
    find(fn, hash) {
      const size = held.sizeOf(`${fn}/${hash}`)
      if (size === undefined) return undefined
      held.touched(keyOf({ fn, hash, size }))
      return { fn, hash, size }
    },
    readMany(list, into) {
      for (let i = 0; i < list.count; i++) {
        const bytes = plain(held.touched(keyAt(list, i)), list.sizes[i] as number)
        if (bytes === undefined) into.absent(i)
        else into.found(i, bytes)
      }
    },
    async read(digest, range) {
      const found = held.touched(keyOf(digest))
      if (found === undefined) return undefined
      const whole = isWhole(range, digest.size)
      if (found.form === 'zstd' && whole && range.acceptZstd === true) return readerOf('zstd', found.bytes)
      const bytes = plain(found, digest.size)
      return bytes && readerOf('identity', bytes.subarray(range.offset, range.offset + (range.limit ?? digest.size)))
    },
    async writeMany(list, blobs) {
      for (let i = 0; i < list.count; i++)
        held.keep(keyAt(list, i), { form: 'identity', bytes: new Uint8Array(blobs[i] as Uint8Array) })
    },
    write(digest, form) {
      const pieces: Uint8Array[] = []
      return {
        write: (bytes) => void pieces.push(new Uint8Array(bytes)),
        commit: async () => held.keep(keyOf(digest), { form, bytes: Buffer.concat(pieces) }),
        abort: () => void pieces.splice(0),
      }
    },
  }
}

const isWhole = ({ offset, limit }: ReadRange, size: number): boolean =>
  offset === 0 && (limit === undefined || limit >= size)

const plain = (blob: Held | undefined, size: number): Uint8Array | undefined =>
  blob?.form === 'zstd' ? decompressedNow(blob.bytes, size) : blob?.bytes

const readerOf = (form: StoredForm, bytes: Uint8Array) => ({ form, pieces: onePiece(bytes) })

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}

const keyOf = ({ fn, hash, size }: Digest): string => `${fn}/${hash}/${size}`

class HeldBlobs {
  readonly #maxBytes: number
  /** Ordered by last touch. */
  readonly #blobs = new Map<string, Held>()
  /** The sizes by function and hash. There is more than one only if blobs do not match their digests. */
  readonly #sizes = new Map<string, Set<number>>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  touched(key: string): Held | undefined {
    const found = this.#blobs.get(key)
    if (found === undefined) return undefined
    this.#blobs.delete(key)
    this.#blobs.set(key, found)
    return found
  }

  sizeOf(name: string): number | undefined {
    const [size] = this.#sizes.get(name) ?? []
    return size
  }

  keep(key: string, blob: Held): void {
    if (this.touched(key) !== undefined) return
    const [name, size] = partsOf(key)
    this.#blobs.set(key, blob)
    this.#sizes.set(name, (this.#sizes.get(name) ?? new Set()).add(size))
    this.#bytes += blob.bytes.length
    for (const [oldest, { bytes }] of this.#blobs) {
      if (this.#bytes <= this.#maxBytes) break
      this.#forget(oldest)
      this.#bytes -= bytes.length
    }
  }

  #forget(key: string): void {
    const [name, size] = partsOf(key)
    this.#blobs.delete(key)
    this.#sizes.get(name)?.delete(size)
    if (this.#sizes.get(name)?.size === 0) this.#sizes.delete(name)
  }
}

function partsOf(key: string): [name: string, size: number] {
  const slash = key.lastIndexOf('/')
  return [key.slice(0, slash), Number(key.slice(slash + 1))]
}

interface Keys {
  readonly fn: DigestFunction
  readonly hashes: Uint8Array
  readonly sizes: Float64Array
}

function keyAt({ fn, hashes, sizes }: Keys, index: number): string {
  const width = DIGEST_FUNCTIONS[fn].hashBytes
  const hash = Buffer.from(hashes.buffer, hashes.byteOffset + index * width, width).toString('hex')
  return `${fn}/${hash}/${sizes[index]}`
}
