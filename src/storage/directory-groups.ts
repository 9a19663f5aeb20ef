import type { Digest } from '../base/digest.ts'
import { invalid } from '../base/fault.ts'

/**
 * Limits for reading a tree of Directory blobs. Any client may have uploaded it: reading it must end, must not hold the
 * event loop for long, and must not take memory without a limit.
 */
export const MOST_DIRECTORIES = 200_000
/** A directory of 16 MiB has about 200,000 entries. */
const MOST_DIRECTORY_BYTES = 16 * 1024 * 1024
/** Directories that are read and parsed between two pauses. */
const AT_A_TIME = { directories: 256, bytes: 128 * 1024 }

/** The next directories to read together: at least one, and one alone where it is large. Throws `invalid` for one above the limit. */
export function directoryGroup(waiting: readonly Digest[], from: number): Digest[] {
  const group: Digest[] = []
  let bytes = 0
  for (let at = from; at < waiting.length && group.length < AT_A_TIME.directories; at++) {
    const digest = waiting[at] as Digest
    if (digest.size > MOST_DIRECTORY_BYTES)
      throw invalid(
        `the directory ${digest.hash}/${digest.size} is larger than the limit of ${MOST_DIRECTORY_BYTES} bytes`,
      )
    bytes += digest.size
    if (group.length > 0 && bytes > AT_A_TIME.bytes) break
    group.push(digest)
  }
  return group
}
