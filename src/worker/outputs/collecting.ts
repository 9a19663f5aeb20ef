import type { Digest, DigestFunction } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { invalid } from '../../base/fault.ts'
import type { DirectoryFormat, OutputProperty } from '../../model/command.ts'
import type { BulkPool } from '../../storage/bulk/bulk-pool.ts'
import { memoryBlob, type OutputBlob } from './blob-target.ts'
import { outputFile } from './output-file.ts'
import type { Node, RoomFiles } from './room-files.ts'

export interface OutputRules {
  /** Files and directories that an attempt may hand in, and their bytes together. */
  readonly mostNodes: number
  readonly mostBytes: number
  readonly absoluteSymlinks: 'allowed' | 'disallowed'
}

/** What one collection has gathered so far, and how. */
export interface Collecting {
  readonly fn: DigestFunction
  readonly format: DirectoryFormat
  readonly properties: readonly OutputProperty[]
  readonly files: RoomFiles
  readonly signal: AbortSignal
  /** By digest: what was made twice is stored once. */
  readonly blobs: ReadonlyMap<string, OutputBlob>
  addFile(node: Node, name: string): Promise<Digest>
  addBytes(digest: Digest, bytes: Uint8Array): void
  /** So many more files and directories. */
  count(nodes: number): void
  checkTarget(path: string, target: string): void
}

export interface CollectingParts extends Pick<Collecting, 'fn' | 'format' | 'properties' | 'files' | 'signal'> {
  readonly bulk: BulkPool
  readonly rules: OutputRules
}

export function collecting({ bulk, rules, ...parts }: CollectingParts): Collecting {
  const { fn, files, signal } = parts
  const blobs = new Map<string, OutputBlob>()
  const add = (blob: OutputBlob): void => void blobs.set(formatDigest(blob.digest), blob)
  let nodes = 0
  let bytes = 0n
  return {
    ...parts,
    blobs,
    async addFile({ real, stats }, name) {
      signal.throwIfAborted()
      bytes += stats.size // before it is read: a sparse file can claim more than there is
      if (bytes > BigInt(rules.mostBytes)) throw invalid(`the outputs have more than ${rules.mostBytes} bytes`)
      const blob = await outputFile({ files, real, name, size: Number(stats.size) }, fn, bulk)
      add(blob)
      return blob.digest
    },
    addBytes: (digest, content) => add(memoryBlob(digest, content)),
    count(more) {
      nodes += more
      if (nodes > rules.mostNodes) throw invalid(`the outputs are more than ${rules.mostNodes} files and directories`)
    },
    checkTarget(path, target) {
      if (target.startsWith('/') && rules.absoluteSymlinks === 'disallowed')
        throw invalid(`the output ${JSON.stringify(path.slice(0, 200))} is an absolute symlink`)
    },
  }
}
