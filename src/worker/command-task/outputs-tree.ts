import type { Digest } from '../../base/digest.ts'
import { invalid } from '../../base/fault.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { Directory } from '../../model/directory.ts'
import { directoryToProto } from '../../wire/reapi/directory.ts'
import type { Collecting } from '../outputs/collecting.ts'

/** What was found at one path. */
export type Found =
  | { readonly kind: 'file'; readonly digest: Digest; readonly executable: boolean }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'directory' }

type Level = Map<string, Found | Level>

/** Puts what was found under its paths together as directories, adds those to the blobs, and answers their root. */
export function outputsTree(found: ReadonlyMap<string, Found>, into: Pick<Collecting, 'fn' | 'addBytes'>): Digest {
  const root: Level = new Map()
  for (const [path, node] of found) put(root, path.split('/'), node)
  return directoryOf(root, into)
}

function put(root: Level, names: readonly string[], node: Found): void {
  let level = root
  names.forEach((name, at) => {
    const isLast = at === names.length - 1
    const there = level.get(name)
    if (there === undefined || there instanceof Map) {
      if (isLast && node.kind !== 'directory' && there === undefined) level.set(name, node)
      else if (isLast && node.kind !== 'directory') throw clash(names)
      else level = there ?? deeper(level, name)
    } else throw clash(names)
  })
}

function deeper(level: Level, name: string): Level {
  const inner: Level = new Map()
  level.set(name, inner)
  return inner
}

/** A link that is kept, and something behind it by its name. */
const clash = (names: readonly string[]) =>
  invalid(`the output ${JSON.stringify(names.join('/').slice(0, 200))} lies behind another that is no directory`)

function directoryOf(level: Level, into: Pick<Collecting, 'fn' | 'addBytes'>): Digest {
  const directory: { -readonly [K in 'files' | 'directories' | 'symlinks']: Directory[K][number][] } = {
    files: [],
    directories: [],
    symlinks: [],
  }
  for (const [name, node] of level) {
    if (node instanceof Map) directory.directories.push({ name, digest: directoryOf(node, into) })
    else if (node.kind === 'symlink') directory.symlinks.push({ name, target: node.target, properties: undefined })
    else if (node.kind === 'file')
      directory.files.push({ name, digest: node.digest, executable: node.executable, properties: undefined })
  }
  const bytes = directoryToProto({ ...directory, properties: undefined })
  const digest = digestOf(into.fn, bytes)
  into.addBytes(digest, bytes)
  return digest
}
