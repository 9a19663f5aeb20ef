import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { Directory, DirectoryNode, FileNode, SymlinkNode } from '../../model/directory.ts'
import { directoryToProto, treeToProto } from '../../wire/reapi/directory.ts'
import { bufferBlob, fileBlob, type LocalBlob } from '../cas/local-blob.ts'

/** Files of one directory that are hashed at the same time. */
const FILES_AT_ONCE = 16
const EXECUTABLE = 0o111

export interface TreeWalk {
  readonly fn: DigestFunction
  /** Called with every blob of the tree, children before parents; the walk waits for it. */
  blob(blob: LocalBlob): Promise<void>
  /** Called with every file and directory, the root last. */
  seen(path: string, digest: Digest, kind: 'file' | 'directory' | 'tree'): void
  /** Called with every directory before what is in it is looked at. */
  enter?(path: string): Promise<void>
  /** Files at the root that are not on this machine's disk. */
  readonly extra?: readonly FileNode[]
  /** Selects entries to leave out; directories that are left out are not entered. */
  omits?(path: string, isDirectory: boolean): boolean
  /** Called with every directory and its entries. */
  listed?(path: string, directory: Directory): void
}

/** Makes Directory messages of a directory of this machine, one for each level; answers the root's digest. */
export async function sendDirectory(path: string, walk: TreeWalk): Promise<Digest> {
  const { digest, bytes } = await level(path, { ...walk, isRoot: true }, async (one) => {
    await walk.blob(bufferBlob(one.path, one.digest, one.bytes))
    walk.seen(one.path, one.digest, 'directory')
  })
  await walk.blob(bufferBlob(path, digest, bytes))
  walk.seen(path, digest, 'directory')
  return digest
}

/** The same as one Tree message. */
export async function sendTree(path: string, walk: TreeWalk): Promise<Digest> {
  const children = new Map<string, Directory>()
  const root = await level(path, walk, async ({ digest, directory }) => {
    // Equal directories are one child; parents come after their children here, and before them in the message.
    children.set(digest.hash, children.get(digest.hash) ?? directory)
  })
  const bytes = treeToProto({ root: root.directory, children: [...children.values()].reverse() })
  const digest = digestOf(walk.fn, bytes)
  await walk.blob(bufferBlob(path, digest, bytes))
  walk.seen(path, digest, 'tree')
  return digest
}

interface LevelWalk extends TreeWalk {
  readonly isRoot?: boolean
}

interface Level {
  readonly path: string
  readonly directory: Directory
  readonly bytes: Uint8Array
  readonly digest: Digest
}

/** `below` gets every level under this one, deepest first. */
async function level(path: string, walk: LevelWalk, below: (one: Level) => Promise<void>): Promise<Level> {
  const { isRoot, ...belowRoot } = walk
  const files: FileNode[] = [...(isRoot === true ? (walk.extra ?? []) : [])]
  const directories: DirectoryNode[] = []
  const symlinks: SymlinkNode[] = []
  const plain: string[] = []
  await walk.enter?.(path)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const { name } = entry
    const at = join(path, name)
    if (walk.omits?.(at, entry.isDirectory()) || files.some((extra) => extra.name === name)) continue
    if (entry.isFile()) plain.push(name)
    else if (entry.isSymbolicLink()) symlinks.push({ name, target: await targetOf(at), properties: undefined })
    else if (entry.isDirectory()) {
      const child = await level(at, belowRoot, below)
      await below(child)
      directories.push({ name, digest: child.digest })
    } else throw refused(at, 'is neither a file nor a directory nor a symlink')
  }
  for (let from = 0; from < plain.length; from += FILES_AT_ONCE) {
    const some = plain.slice(from, from + FILES_AT_ONCE)
    files.push(...(await Promise.all(some.map((name) => sendFile(join(path, name), name, walk)))))
  }
  const directory: Directory = { files, directories, symlinks, properties: undefined }
  const bytes = directoryToProto(directory)
  walk.listed?.(path, directory)
  return { path, directory, bytes, digest: digestOf(walk.fn, bytes) }
}

async function sendFile(path: string, name: string, walk: TreeWalk): Promise<FileNode> {
  const { mode } = await lstat(path)
  const blob = await fileBlob(path, walk.fn)
  await walk.blob(blob)
  walk.seen(path, blob.digest, 'file')
  return { name, digest: blob.digest, executable: (mode & EXECUTABLE) !== 0, properties: undefined }
}

/** Text that is not UTF-8 would come back as something else. */
async function targetOf(path: string): Promise<string> {
  const raw = await readlink(path, { encoding: 'buffer' })
  const target = raw.toString()
  if (!Buffer.from(target).equals(raw)) throw refused(path, 'leads to a name that is not UTF-8')
  return target
}

const refused = (path: string, what: string): FaultError =>
  new FaultError({ kind: 'unavailable', what: `${path} ${what}` })
