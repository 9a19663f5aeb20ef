import type { Digest } from '../base/digest.ts'
import type { Directory } from '../model/directory.ts'

/** Directories and small blobs of a store, for code that reads single entries. */
export interface TreeStore {
  /** Undefined when it is not held. Throws `invalid` when the blob is no directory. */
  directory(digest: Digest): Promise<Directory | undefined>
  has(digest: Digest): Promise<boolean>
  /** At most `limit` bytes from the start; undefined when the blob is not in the store. */
  read(digest: Digest, limit: number): Promise<Uint8Array | undefined>
  put(bytes: Uint8Array): Promise<Digest>
  putDirectory(directory: Directory): Promise<Digest>
  /** Caches the directory under this digest if it has this digest, so that it need not be read. */
  recognize(digest: Digest, directory: Directory): void
}
