import type { Digest, DigestFunction } from '../../../base/digest.ts'
import { DigestListBuilder } from '../../../base/digest-list.ts'
import { formatDigest } from '../../../base/digest-text.ts'
import { invalid } from '../../../base/fault.ts'
import { digestOf } from '../../../base/hashing/hash-of.ts'
import type { Directory } from '../../../model/directory.ts'
import type { TreeStore } from '../../../stagers/tree-store.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { directoryFromProto, directoryToProto } from '../../../wire/reapi/directory.ts'

/** Blobs by their digests. */
export interface PlainBlobs {
  has(digest: Digest): Promise<boolean>
  read(digest: Digest, limit: number): Promise<Uint8Array | undefined>
  put(digest: Digest, bytes: Uint8Array): Promise<void>
}

export const plainBlobs = (blobs: BlobStore): PlainBlobs => ({
  async has(digest) {
    const absent = new Uint8Array(1)
    await blobs.missing(listOf(digest), absent)
    return absent[0] === 0
  },
  async read(digest, limit) {
    const reader = await blobs.read(digest, { offset: 0, limit })
    if (reader === undefined) return undefined
    const pieces: Uint8Array[] = []
    for await (const piece of reader.pieces) pieces.push(Uint8Array.from(piece))
    return Buffer.concat(pieces).subarray(0, limit)
  },
  put: (digest, bytes) => blobs.writeMany(listOf(digest), [bytes]),
})

function listOf({ fn, hash, size }: Digest) {
  const list = new DigestListBuilder(fn, 1)
  list.add(hash, size)
  return list.build()
}

/** Limit of one encoded directory. */
const MOST_DIRECTORY_BYTES = 32 * 1024 * 1024
/** Limit of cached directories, counted in entries. */
const MOST_REMEMBERED = 100_000

/** Caches directories, because steps read the same ones repeatedly. */
export function treeStore(blobs: PlainBlobs, fn: DigestFunction): TreeStore {
  const known = new Map<string, Directory>()
  let weight = 0
  const remember = (key: string, directory: Directory): Directory => {
    if (known.has(key)) return directory
    known.set(key, directory)
    weight += weightOf(directory)
    for (const [oldest, one] of known) {
      if (weight <= MOST_REMEMBERED) break
      known.delete(oldest)
      weight -= weightOf(one)
    }
    return directory
  }
  const put = async (bytes: Uint8Array): Promise<Digest> => {
    const digest = digestOf(fn, bytes)
    if (bytes.length > 0) await blobs.put(digest, bytes)
    return digest
  }
  return {
    has: async (digest) => digest.size === 0 || (await blobs.has(digest)),
    read: async (digest, limit) => (digest.size === 0 ? new Uint8Array() : await blobs.read(digest, limit)),
    put,
    async directory(digest) {
      const key = keyOf(digest)
      const before = known.get(key)
      if (before !== undefined) return before
      if (digest.size > MOST_DIRECTORY_BYTES) throw invalid(`${formatDigest(digest)} is too large for a directory`)
      const bytes = digest.size === 0 ? new Uint8Array() : await blobs.read(digest, digest.size)
      return bytes && remember(key, directoryFromProto(bytes, digest.fn))
    },
    async putDirectory(directory) {
      const digest = await put(directoryToProto(directory))
      remember(keyOf(digest), directory)
      return digest
    },
    recognize(digest, directory) {
      if (digestOf(digest.fn, directoryToProto(directory)).hash === digest.hash) remember(keyOf(digest), directory)
    },
  }
}

const keyOf = (digest: Digest): string => `${digest.fn}/${formatDigest(digest)}`

const weightOf = ({ files, directories, symlinks }: Directory): number =>
  1 + files.length + directories.length + symlinks.length
