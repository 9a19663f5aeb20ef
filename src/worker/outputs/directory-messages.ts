import type { Digest, DigestFunction } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { Directory } from '../../model/directory.ts'
import { directoryToProto } from '../../wire/reapi/directory.ts'
import type { Found, FoundDirectory } from './gather-outputs.ts'

/** One Directory message. */
export interface EncodedDirectory {
  readonly directory: Directory
  readonly digest: Digest
  readonly bytes: Uint8Array
}

export interface EncodedTree {
  readonly root: EncodedDirectory
  /** Equal directories are listed once, by digest. Children come before their parents. */
  readonly below: ReadonlyMap<string, EncodedDirectory>
}

/** Encodes a directory and all directories below it. */
export function encodeTree(found: FoundDirectory, fn: DigestFunction): EncodedTree {
  const below = new Map<string, EncodedDirectory>()
  const encode = ({ children, properties }: FoundDirectory): EncodedDirectory => {
    const files: Directory['files'][number][] = []
    const directories: Directory['directories'][number][] = []
    const symlinks: Directory['symlinks'][number][] = []
    for (const [name, node] of children) {
      if (node.kind === 'directory') {
        const child = encode(node)
        const key = formatDigest(child.digest)
        if (!below.has(key)) below.set(key, child)
        directories.push({ name, digest: child.digest })
      } else if (node.kind === 'symlink') symlinks.push({ name, target: node.target, properties: node.properties })
      else files.push({ name, digest: node.digest, executable: node.executable, properties: node.properties })
    }
    const directory = { files, directories, symlinks, properties }
    const bytes = directoryToProto(directory)
    return { directory, bytes, digest: digestOf(fn, bytes) }
  }
  return { root: encode(found), below }
}

/**
 * Lists each directory once, after every directory that contains it. That is the reverse order of `below`, where all
 * subdirectories of a directory come before it.
 */
export const parentsFirst = ({ below }: EncodedTree): Directory[] =>
  [...below.values()].reverse().map(({ directory }) => directory)

/** Makes one directory that contains all outputs under their paths. */
export function directoryOfAll(found: ReadonlyMap<string, Found>): FoundDirectory {
  const root = emptyDirectory()
  for (const [path, node] of found) put(root, path.split('/'), node)
  return root
}

const emptyDirectory = (): FoundDirectory => ({ kind: 'directory', children: new Map(), properties: undefined })

function put(root: FoundDirectory, names: readonly string[], node: Found): void {
  let { children } = root
  names.forEach((name, at) => {
    const isNode = at === names.length - 1 && node.kind !== 'directory'
    const there = children.get(name)
    if (isNode && there === undefined) children.set(name, node)
    else if (isNode || (there !== undefined && there.kind !== 'directory')) throw clash(names)
    else {
      const inner = there ?? emptyDirectory()
      children.set(name, inner)
      children = inner.children
    }
  })
}

/** The error for an output whose path leads through another output that is not a directory. */
const clash = (names: readonly string[]) =>
  invalid(`the output ${JSON.stringify(names.join('/').slice(0, 200))} lies behind another that is no directory`)
