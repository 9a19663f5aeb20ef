import type { Digest } from '../base/digest.ts'
import { formatDigest } from '../base/digest-text.ts'
import { digestOf } from '../base/hashing/hash-of.ts'
import type { Directory } from '../model/directory.ts'
import type { TreeStore } from './tree-store.ts'

/** A store of trees in memory. */
export function memoryTrees(): TreeStore {
  const blobs = new Map<string, Uint8Array>()
  const directories = new Map<string, Directory>()
  const put = async (bytes: Uint8Array): Promise<Digest> => {
    const digest = digestOf('sha256', bytes)
    blobs.set(formatDigest(digest), bytes)
    return digest
  }
  return {
    put,
    has: async (digest) => blobs.has(formatDigest(digest)),
    read: async (digest, limit) => blobs.get(formatDigest(digest))?.subarray(0, limit),
    directory: async (digest) => directories.get(formatDigest(digest)),
    async putDirectory(directory) {
      const digest = await put(Buffer.from(JSON.stringify(directory)))
      directories.set(formatDigest(digest), directory)
      return digest
    },
    recognize() {},
  }
}

export const directoryOf = (parts: Partial<Directory>): Directory => ({
  files: [],
  directories: [],
  symlinks: [],
  properties: undefined,
  ...parts,
})
