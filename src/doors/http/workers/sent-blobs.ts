import type { Digest, DigestFunction } from '../../../base/digest.ts'
import { digestListOf } from '../../../base/digest-list.ts'
import { invalid } from '../../../base/fault.ts'
import { digestOf } from '../../../base/hashing/hash-of.ts'
import type { CommandOutputs } from '../../../model/command-task.ts'
import type { Directory } from '../../../model/directory.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { directoryToProto } from '../../../wire/reapi/directory.ts'
import type { ReceivedFile } from './sent-outputs.ts'

/** Blobs that are built from a worker's message and stored together. */
export interface SentBlobs {
  add(bytes: Uint8Array): Digest
  store(into: BlobStore): Promise<void>
}

export function sentBlobs(fn: DigestFunction): SentBlobs {
  const digests: Digest[] = []
  const blobs: Uint8Array[] = []
  return {
    add(bytes) {
      const digest = digestOf(fn, bytes)
      digests.push(digest)
      blobs.push(bytes)
      return digest
    },
    async store(into) {
      if (blobs.length > 0) await into.writeMany(digestListOf(fn, digests), blobs)
    },
  }
}

/** Lists the files, and encodes one directory that contains them all. */
export function outputsFrom(files: readonly ReceivedFile[], into: SentBlobs): Pick<CommandOutputs, 'files' | 'root'> {
  const made = files.map(({ path, bytes, executable }) => ({ path, executable, digest: into.add(bytes) }))
  const nodes = made.map(({ path, ...rest }) => ({ names: path.split('/'), ...rest }))
  return { files: made, root: made.length === 0 ? undefined : directoryOf(nodes, into) }
}

interface Node {
  readonly names: readonly string[]
  readonly digest: Digest
  readonly executable: boolean
}

function directoryOf(nodes: readonly Node[], into: SentBlobs): Digest {
  const files: Directory['files'][number][] = []
  const deeper = new Map<string, Node[]>()
  for (const { names, digest, executable } of nodes) {
    const [name = '', ...rest] = names
    if (rest.length === 0) files.push({ name, digest, executable, properties: undefined })
    else {
      const inner = deeper.get(name) ?? []
      inner.push({ names: rest, digest, executable })
      deeper.set(name, inner)
    }
  }
  const clash = files.find(({ name }) => deeper.has(name))
  if (clash !== undefined) throw invalid(`outputs: ${JSON.stringify(clash.name.slice(0, 200))} is a file and a folder`)
  const directories = [...deeper].map(([name, inner]) => ({ name, digest: directoryOf(inner, into) }))
  return into.add(directoryToProto({ files, directories, symlinks: [], properties: undefined }))
}
