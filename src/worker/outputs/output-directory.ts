import { join } from 'node:path'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { OutputDirectory } from '../../model/action-result.ts'
import type { Directory, DirectoryNode, FileNode, SymlinkNode } from '../../model/directory.ts'
import { directoryToProto, treeToProto } from '../../wire/reapi/directory.ts'
import { atOnce } from '../at-once.ts'
import type { Collecting } from './collecting.ts'
import { isExecutable, propertiesOf } from './output-properties.ts'
import type { Node } from './room-files.ts'

const FILES_AT_ONCE = 8

interface Level {
  readonly directory: Directory
  readonly digest: Digest
  readonly bytes: Uint8Array
}

/** A directory as the client wants it: one Tree, or a Directory message for each level, or both. */
export async function outputDirectory(path: string, node: Node, collecting: Collecting): Promise<OutputDirectory> {
  const { format, fn } = collecting
  // By their digest, children before parents: equal directories are one.
  const below = new Map<string, Level>()
  const root = await level(node.real, path, { collecting, below })
  const hasTree = format !== 'directories'
  if (format !== 'tree') for (const { digest, bytes } of [...below.values(), root]) collecting.addBytes(digest, bytes)
  let treeDigest: Digest | undefined
  if (hasTree) {
    const bytes = treeToProto({ root: root.directory, children: parentsFirst(below) })
    treeDigest = digestOf(fn, bytes)
    collecting.addBytes(treeDigest, bytes)
  }
  return { path, treeDigest, topologicallySorted: hasTree, rootDigest: format === 'tree' ? undefined : root.digest }
}

/**
 * Each directory once, and after everyone who holds it. To turn the order of the visit round does that: when a directory was
 * first left, all below it had been left before.
 */
const parentsFirst = (below: ReadonlyMap<string, Level>): Directory[] =>
  [...below.values()].reverse().map(({ directory }) => directory)

interface Walk {
  readonly collecting: Collecting
  readonly below: Map<string, Level>
}

async function level(real: string, path: string, walk: Walk): Promise<Level> {
  const { collecting, below } = walk
  const found = { files: [] as FileNode[], directories: [] as DirectoryNode[], symlinks: [] as SymlinkNode[] }
  const plain: { readonly name: string; readonly node: Node }[] = []
  for (const { name, node } of nodesIn(real, path, collecting)) {
    const inside = path === '' ? name : `${path}/${name}`
    const properties = propertiesOf(node.stats, collecting.properties)
    if (node.kind === 'file') plain.push({ name, node })
    else if (node.kind === 'symlink') {
      collecting.checkTarget(inside, node.target)
      found.symlinks.push({ name, target: node.target, properties })
    } else {
      const child = await level(node.real, inside, walk)
      below.set(formatDigest(child.digest), below.get(formatDigest(child.digest)) ?? child)
      found.directories.push({ name, digest: child.digest })
    }
  }
  await atOnce(plain, FILES_AT_ONCE, async ({ name, node }) => {
    const digest = await collecting.addFile(node, path === '' ? name : `${path}/${name}`)
    const properties = propertiesOf(node.stats, collecting.properties)
    found.files.push({ name, digest, executable: isExecutable(node.stats), properties })
  })
  const directory: Directory = { ...found, properties: ownProperties(real, path, collecting) }
  const bytes = directoryToProto(directory)
  return { directory, bytes, digest: digestOf(collecting.fn, bytes) }
}

function nodesIn(real: string, path: string, { files, count, signal }: Collecting): { name: string; node: Node }[] {
  signal.throwIfAborted()
  const names = files.namesIn(real, path)
  count(names.length)
  return names.flatMap((name) => {
    const node = files.at(join(real, name), path === '' ? name : `${path}/${name}`)
    return node === undefined ? [] : [{ name, node }]
  })
}

function ownProperties(real: string, path: string, { files, properties }: Collecting): Directory['properties'] {
  const node = properties.length === 0 ? undefined : files.at(real, path)
  return node && propertiesOf(node.stats, properties)
}
