import { open, readFile, stat } from 'node:fs/promises'
import type { Digest, DigestFunction } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'

/** Bytes on this side, under their digest. They are read when they are needed, and may be read again. */
export interface LocalBlob {
  readonly digest: Digest
  /** For people. */
  readonly name: string
  whole(): Promise<Uint8Array>
  pieces(): AsyncIterable<Uint8Array>
}

const WHOLE_BYTES = 128 * 1024
const PIECE_BYTES = 512 * 1024

export const bufferBlob = (name: string, digest: Digest, bytes: Uint8Array): LocalBlob => ({
  digest,
  name,
  whole: async () => bytes,
  async *pieces() {
    yield bytes
  },
})

/** Hashes a file. If the file changes before it is sent, the upload fails, because the digest was announced already. */
export async function fileBlob(path: string, fn: DigestFunction, name = path): Promise<LocalBlob> {
  const digest = await digestOfFile(path, fn)
  return {
    digest,
    name,
    async whole() {
      const bytes = await readFile(path)
      if (digestOf(fn, bytes).hash !== digest.hash) throw changed(name)
      return bytes
    },
    async *pieces() {
      let size = 0
      for await (const piece of piecesOf(path)) {
        size += piece.length
        if (size > digest.size) throw changed(name)
        yield piece
      }
      if (size !== digest.size) throw changed(name)
    },
  }
}

async function digestOfFile(path: string, fn: DigestFunction): Promise<Digest> {
  if ((await stat(path)).size <= WHOLE_BYTES) return digestOf(fn, await readFile(path))
  const hasher = createHasher(fn)
  let size = 0
  for await (const piece of piecesOf(path)) {
    hasher.update(piece)
    size += piece.length
  }
  return { fn, hash: Buffer.from(hasher.digest()).toString('hex'), size }
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    yield* file.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false })
  } finally {
    await file.close()
  }
}

const changed = (name: string): FaultError =>
  new FaultError({ kind: 'unavailable', what: `${name} changed while it was read: retry when no program writes to it` })
