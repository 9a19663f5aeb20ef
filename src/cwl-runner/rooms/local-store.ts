import { createHash } from 'node:crypto'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { Directory } from '../../model/directory.ts'
import type { StagedNode, Stager } from '../../stagers/stager.ts'
import type { TreeStore } from '../../stagers/tree-store.ts'
import { fileAddress, pathOfAddress } from '../files/file-address.ts'
import type { LocalFiles } from '../files/local-files.ts'

/**
 * The files of this machine as a store. A task names its inputs by digest. The digest of a file or directory of this
 * machine is that of its path, so that no input is read before its command reads it, however large it is. Digests of
 * literals are those of their contents.
 */
export interface LocalStore {
  /** Finds `file:` locations. */
  readonly stager: Stager
  readonly trees: TreeStore
  held(digest: Digest): HeldNode | undefined
}

export type HeldNode =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'directory'; readonly directory: Directory }

export function localStore(files: LocalFiles): LocalStore {
  const nodes = new Map<string, HeldNode>()
  const hold = (name: string, node: HeldNode): Digest => {
    const digest = sha256Of(Buffer.from(name))
    nodes.set(formatDigest(digest), node)
    return digest
  }
  const held = (digest: Digest): HeldNode | undefined => nodes.get(formatDigest(digest))
  const nodeAt = (path: string): StagedNode | undefined => {
    const stats = files.look(path)?.stats
    if (stats === undefined) return undefined
    const digest = hold(`path ${path}`, { kind: 'path', path })
    if (stats.isDirectory()) return { kind: 'directory', digest }
    return { kind: 'file', digest, executable: (stats.mode & 0o111) !== 0 }
  }
  const trees: TreeStore = {
    has: async (digest) => held(digest) !== undefined,
    async read(digest, limit) {
      const node = held(digest)
      if (node?.kind === 'path') return files.read(fileAddress(node.path), limit)
      return node?.kind === 'bytes' ? node.bytes.subarray(0, limit) : undefined
    },
    put: async (bytes) => hold(`bytes ${Buffer.from(bytes).toString('latin1')}`, { kind: 'bytes', bytes }),
    putDirectory: async (directory) => hold(`directory ${JSON.stringify(directory)}`, { kind: 'directory', directory }),
    async directory(digest) {
      const node = held(digest)
      if (node?.kind === 'path') return directoryAt(node.path)
      return node?.kind === 'directory' ? node.directory : undefined
    },
    recognize() {},
  }
  const directoryAt = async (path: string): Promise<Directory> => {
    const [below, found]: [Directory['directories'][number][], Directory['files'][number][]] = [[], []]
    for (const { basename: name } of await files.list(fileAddress(path))) {
      const node = nodeAt(`${path}/${name}`)
      if (node?.kind === 'directory') below.push({ name, digest: node.digest })
      else if (node?.kind === 'file') found.push({ name, ...node, properties: undefined })
    }
    return { files: found, directories: below, symlinks: [], properties: undefined }
  }
  return { trees, held, stager: { find: async (location) => found(location), put: refusePut, named: () => undefined } }

  function found(location: string): StagedNode | undefined {
    const path = pathOfAddress(location)
    if (path === undefined) throw invalid(`${location} is not a file of this machine`, 'unsupported')
    const node = nodeAt(path)
    if (node !== undefined) files.admit(path)
    return node
  }
}

export const sha256Of = (bytes: Uint8Array): Digest => ({
  fn: 'sha256',
  hash: createHash('sha256').update(bytes).digest('hex'),
  size: bytes.length,
})

async function refusePut(_: StagedNode, to: string): Promise<never> {
  throw invalid(`no outputs can be put to ${to}: they stay in their rooms`, 'unsupported')
}
