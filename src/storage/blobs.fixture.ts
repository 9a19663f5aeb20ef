import { createHash } from 'node:crypto'
import { DIGEST_FUNCTIONS, type Digest, type DigestFunction, type DigestList } from '../base/digest.ts'
import type { BlobStore, ReadRange, StoredForm } from './blob-store.ts'

/** Functions that Node's crypto library computes, independent of the code under test. */
export type NodeFunction = Exclude<DigestFunction, 'blake3' | 'sha256tree'>

export const digestOf = (bytes: Uint8Array, fn: NodeFunction = 'sha256'): Digest => ({
  fn,
  hash: createHash(fn).update(bytes).digest('hex'),
  size: bytes.length,
})

export function listOf(digests: readonly Digest[]): DigestList {
  const fn = digests[0]?.fn ?? 'sha256'
  if (digests.some((digest) => digest.fn !== fn)) throw new Error('a list holds digests of one function')
  const width = DIGEST_FUNCTIONS[fn].hashBytes
  return {
    fn,
    width,
    count: digests.length,
    hashes: Buffer.concat(digests.map(({ hash }) => Buffer.from(hash, 'hex'))),
    sizes: Float64Array.from(digests, ({ size }) => size),
  }
}

export async function missingOf(store: BlobStore, digests: readonly Digest[]): Promise<boolean[]> {
  const absent = new Uint8Array(digests.length).fill(9)
  await store.missing(listOf(digests), absent)
  return [...absent].map((flag) => flag === 1)
}

export async function holds(store: BlobStore, digest: Digest): Promise<boolean> {
  return !(await missingOf(store, [digest]))[0]
}

/** Reads whole blobs by `readMany`; undefined for absent ones. */
export async function manyOf(store: BlobStore, digests: readonly Digest[]): Promise<(Buffer | undefined)[]> {
  const answers: ('none' | Buffer | undefined)[] = digests.map(() => 'none')
  await store.readMany(listOf(digests), {
    found: (index, bytes) => {
      answers[index] = Buffer.from(bytes)
    },
    absent: (index) => {
      answers[index] = undefined
    },
  })
  return answers.map((answer) => {
    if (answer === 'none') throw new Error('readMany left one out')
    return answer
  })
}

export async function put(store: BlobStore, ...blobs: readonly Uint8Array[]): Promise<Digest[]> {
  const digests = blobs.map((bytes) => digestOf(bytes))
  await store.writeMany(listOf(digests), blobs)
  return digests
}

export async function putOne(store: BlobStore, bytes: Uint8Array): Promise<Digest> {
  const digest = digestOf(bytes)
  await store.writeMany(listOf([digest]), [bytes])
  return digest
}

export interface Stream {
  readonly form: StoredForm
  readonly bytes: Buffer
}

export async function streamOf(store: BlobStore, digest: Digest, range?: ReadRange): Promise<Stream | undefined> {
  const reader = await store.read(digest, range ?? { offset: 0 })
  if (reader === undefined) return undefined
  const pieces: Buffer[] = []
  for await (const piece of reader.pieces) pieces.push(Buffer.from(piece))
  return { form: reader.form, bytes: Buffer.concat(pieces) }
}

export const bytesOf = async (store: BlobStore, digest: Digest, range?: ReadRange): Promise<Buffer | undefined> =>
  (await streamOf(store, digest, range))?.bytes

export interface Upload {
  readonly digest: Digest
  readonly bytes: Uint8Array
  readonly form?: StoredForm
  readonly pieceBytes?: number
}

/** Writes in pieces; each buffer is overwritten as soon as the store allows it. */
export async function upload(store: BlobStore, { digest, bytes, form, pieceBytes }: Upload): Promise<void> {
  const writer = store.write(digest, form ?? 'identity')
  const step = pieceBytes ?? 100_000
  const piece = Buffer.alloc(step)
  for (let at = 0; at < bytes.length; at += step) {
    const part = piece.subarray(0, Math.min(step, bytes.length - at))
    part.set(bytes.subarray(at, at + step))
    await writer.write(part)
    part.fill(0xee)
  }
  await writer.commit()
}
