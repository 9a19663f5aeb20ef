import type { Digest } from '../base/digest.ts'
import type { Directory } from '../model/directory.ts'

/** Directories and small blobs of a store, for those who look around in it. */
export interface TreeStore {
  /** Undefined when it is not held. Throws `invalid` when the blob is no directory. */
  directory(digest: Digest): Promise<Directory | undefined>
  has(digest: Digest): Promise<boolean>
  /** At most so many bytes from the start; undefined when it is not held. */
  read(digest: Digest, limit: number): Promise<Uint8Array | undefined>
  put(bytes: Uint8Array): Promise<Digest>
  putDirectory(directory: Directory): Promise<Digest>
  /** Remembers it as the directory of this digest, if that is what it is: then nobody has to read it. */
  recognize(digest: Digest, directory: Directory): void
}
