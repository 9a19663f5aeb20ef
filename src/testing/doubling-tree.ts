import { createHash } from 'node:crypto'
import type { Directory } from '../model/directory.ts'
import { directoryToProto, treeToProto } from '../wire/reapi/directory.ts'

const EMPTY: Directory = { files: [], directories: [], symlinks: [], properties: undefined }

/** A Tree message in which each directory contains the one below it twice: 2 to the power of `levels` directories. */
export function doublingTree(levels: number): Uint8Array {
  const children: Directory[] = []
  let root = EMPTY
  for (let level = 0; level < levels; level++) {
    children.push(root)
    const bytes = directoryToProto(root)
    const digest = { fn: 'sha256', hash: createHash('sha256').update(bytes).digest('hex'), size: bytes.length } as const
    root = { ...EMPTY, directories: ['a', 'b'].map((name) => ({ name, digest })) }
  }
  return treeToProto({ root, children })
}
