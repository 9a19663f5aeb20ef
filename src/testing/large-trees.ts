import { createHash } from 'node:crypto'
import type { Digest } from '../base/digest.ts'
import type { Directory } from '../model/directory.ts'
import { directoryToProto } from '../wire/reapi/directory.ts'

/** A Directory message and its digest. */
export interface MadeDirectory {
  readonly bytes: Uint8Array
  readonly digest: Digest
}

const EMPTY: Directory = { files: [], directories: [], symlinks: [], properties: undefined }

function made(directory: Partial<Directory>): MadeDirectory {
  const bytes = directoryToProto({ ...EMPTY, ...directory })
  const hash = createHash('sha256').update(bytes).digest('hex')
  return { bytes, digest: { fn: 'sha256', hash, size: bytes.length } }
}

const holding = (children: readonly MadeDirectory[]): MadeDirectory =>
  made({ directories: children.map(({ digest }, index) => ({ name: `d${index}`, digest })) })

const leaf = (name: string): MadeDirectory => made({ symlinks: [{ name, target: 'x', properties: undefined }] })

/** A tree of 2^(levels + 1) - 1 distinct directories: two in each, the root last. */
export function binaryTree(levels: number): MadeDirectory[] {
  const all = Array.from({ length: 2 ** levels }, (_, index) => leaf(`leaf ${index}`))
  for (let at = 0; at + 1 < all.length; at += 2) all.push(holding(all.slice(at, at + 2)))
  return all
}

/** Many paths from few directories: each contains the one below it twice, the root last. */
export function doublingDirectories(levels: number): MadeDirectory[] {
  const all = [leaf('leaf')]
  for (let level = 0; level < levels; level++) {
    const below = all[level] as MadeDirectory
    all.push(holding([below, below]))
  }
  return all
}

/** One directory with `count` distinct others in it, the root last. */
export function flatTree(count: number): MadeDirectory[] {
  const all = Array.from({ length: count }, (_, index) => leaf(`leaf ${index}`))
  return [...all, holding(all)]
}
