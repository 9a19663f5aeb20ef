import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { FaultError } from '../../base/fault.ts'
import { createHasher } from '../../base/hashing/create-hasher.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'

/** Passes on what comes, and throws in the end when it was not the blob. More bytes than the blob has are not read. */
export async function* verified(digest: Digest, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hasher = createHasher(digest.fn)
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > digest.size) throw wrongBytes(digest)
    hasher.update(piece)
    yield piece
  }
  if (size !== digest.size || Buffer.from(hasher.digest()).toString('hex') !== digest.hash) throw wrongBytes(digest)
}

export function mustBe(digest: Digest, bytes: Uint8Array): void {
  if (bytes.length !== digest.size || digestOf(digest.fn, bytes).hash !== digest.hash) throw wrongBytes(digest)
}

const wrongBytes = (digest: Digest): FaultError =>
  new FaultError({ kind: 'bug', what: `the server sent other bytes for ${formatDigest(digest)}`, why: 'data-loss' })
