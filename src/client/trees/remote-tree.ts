import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { Directory } from '../../model/directory.ts'
import { treeDirectories } from '../../wire/reapi/cas-calls.ts'
import { directoryFromProto } from '../../wire/reapi/directory.ts'
import type { CasClient } from '../cas/cas-client.ts'
import { absentBlob, wholeBlob } from '../cas/cas-read.ts'
import { mustBe } from '../cas/verified.ts'
import { fromServer } from '../connection/server-fault.ts'

/** A Directory with a million files has some 100 MiB. */
const DIRECTORY_BYTES = 256 * 1024 * 1024
const BATCH_BYTES = 2 * 1024 * 1024
const BATCH_DIRECTORIES = 200

/** The source of Directory messages: returns the requested ones, in any order, verified. */
export type DirectorySource = (digests: readonly Digest[]) => Promise<Map<string, Uint8Array>>

/** Each directory is a blob of its own. */
export const fromBlobs =
  (client: CasClient): DirectorySource =>
  async (digests) => {
    const unique = [...new Map(digests.map((digest) => [formatDigest(digest), digest])).values()]
    const small = unique.filter(({ size }) => size > 0 && size <= BATCH_BYTES)
    const found = small.length === 0 ? new Map<string, Uint8Array>() : await client.readMany(small)
    for (const digest of unique) {
      const key = formatDigest(digest)
      const bytes = found.get(key)
      if (bytes !== undefined) mustBe(digest, bytes)
      else if (small.includes(digest)) throw absentBlob(digest, 'directory')
      else found.set(key, await wholeBlob(client, digest, DIRECTORY_BYTES))
    }
    return found
  }

/** All directories are in one Tree message; answers the root's digest too. */
export async function fromTree(
  client: CasClient,
  tree: Digest,
): Promise<{ readonly root: Digest; readonly source: DirectorySource }> {
  const bytes = await wholeBlob(client, tree, DIRECTORY_BYTES)
  const { root, children } = fromServer(treeDirectories)(bytes)
  const known = new Map([root, ...children].map((one) => [formatDigest(digestOf(client.fn, one)), one]))
  const source: DirectorySource = async (digests) => {
    const stranger = digests.find((digest) => !known.has(formatDigest(digest)))
    if (stranger !== undefined) throw absentBlob(stranger, `tree with the directory`)
    return known
  }
  return { root: digestOf(client.fn, root), source }
}

export interface RemoteDirectory {
  /** From the root, which is ''. */
  readonly path: string
  readonly directory: Directory
}

/**
 * Selects the entries of a directory to keep; the path of the root is ''. Returns the same object when nothing is left
 * out of it and of its descendants.
 */
export type Trim = (path: string, directory: Directory) => Directory

/**
 * Every directory of a tree, parents before children, as often as it occurs. Names are validated: none is empty, is
 * dots or has a slash, and none occurs twice in one directory. A trimmed tree has fewer entries.
 */
export async function* remoteDirectories(
  root: Digest,
  source: DirectorySource,
  trim: Trim = (_, directory) => directory,
): AsyncGenerator<RemoteDirectory> {
  const waiting: { readonly path: string; readonly digest: Digest }[] = [{ path: '', digest: root }]
  while (waiting.length > 0) {
    // From the end, so that a deep tree is not first spread out in all its width.
    const some = waiting.splice(-sharedBy(waiting))
    const found = await source(some.map(({ digest }) => digest))
    for (const { path, digest } of some) {
      const bytes = found.get(formatDigest(digest)) as Uint8Array
      const directory = trim(path, fromServer((message) => directoryFromProto(message, root.fn))(bytes))
      yield { path, directory }
      for (const child of directory.directories)
        waiting.push({ path: path === '' ? child.name : `${path}/${child.name}`, digest: child.digest })
    }
  }
}

/** How many directories at the end of the list fit in one batch. */
export function sharedBy(waiting: readonly { readonly digest: Digest }[]): number {
  let bytes = 0
  let count = 0
  while (count < Math.min(BATCH_DIRECTORIES, waiting.length)) {
    bytes += waiting[waiting.length - 1 - count]?.digest.size ?? 0
    if (count > 0 && bytes > BATCH_BYTES) break
    count++
  }
  return count
}
