import { DIGEST_FUNCTIONS, type Digest, type DigestFunction } from '../base/digest.ts'
import type { BlobStore, ReadRange, StoredForm } from './blob-store.ts'
import { decompressedNow } from './zstd.ts'

interface Held {
  readonly form: StoredForm
  readonly bytes: Uint8Array
}

/** Keeps blobs in memory: for tests, and for grids that may forget. The least recently touched go first. */
export function memoryStore({ maxBytes = Number.POSITIVE_INFINITY } = {}): BlobStore {
  const held = new Map<string, Held>() // in the order of touches
  let heldBytes = 0

  const touched = (key: string): Held | undefined => {
    const found = held.get(key)
    if (found === undefined) return undefined
    held.delete(key)
    held.set(key, found)
    return found
  }
  const keep = (key: string, blob: Held): void => {
    if (touched(key) !== undefined) return
    held.set(key, blob)
    heldBytes += blob.bytes.length
    for (const [oldest, { bytes }] of held) {
      if (heldBytes <= maxBytes) break
      held.delete(oldest)
      heldBytes -= bytes.length
    }
  }

  return {
    missing(list, absent) {
      for (let i = 0; i < list.count; i++) absent[i] = touched(keyAt(list, i)) === undefined ? 1 : 0
    },
    readMany(list, into) {
      for (let i = 0; i < list.count; i++) {
        const bytes = plain(touched(keyAt(list, i)), list.sizes[i] as number)
        if (bytes === undefined) into.absent(i)
        else into.found(i, bytes)
      }
    },
    async read(digest, range) {
      const found = touched(keyOf(digest))
      if (found === undefined) return undefined
      const whole = isWhole(range, digest.size)
      if (found.form === 'zstd' && whole && range.acceptZstd === true) return readerOf('zstd', found.bytes)
      const bytes = plain(found, digest.size)
      return bytes && readerOf('identity', bytes.subarray(range.offset, range.offset + (range.limit ?? digest.size)))
    },
    async writeMany(list, blobs) {
      for (let i = 0; i < list.count; i++)
        keep(keyAt(list, i), { form: 'identity', bytes: new Uint8Array(blobs[i] as Uint8Array) })
    },
    write(digest, form) {
      const pieces: Uint8Array[] = []
      return {
        write: (bytes) => void pieces.push(new Uint8Array(bytes)),
        commit: async () => keep(keyOf(digest), { form, bytes: Buffer.concat(pieces) }),
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
