import { expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { formatDigest } from '../../base/digest-text.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { BlobSource } from '../inputs/blob-source.ts'
import { fetchBlob } from './fetch-blob.ts'

const never = new AbortController().signal
const digest = (text: string): Digest => digestOf('sha256', Buffer.from(text))

/** Returns these bytes for every request, right or wrong; no blob when `text` is undefined. */
const sourceOf = (text: string | undefined, batchBytes = 100): BlobSource => ({
  batchBytes,
  missing: async () => [],
  readMany: async ([first]) =>
    new Map(text === undefined || first === undefined ? [] : [[formatDigest(first), Buffer.from(text)]]),
  read: async () => (text === undefined ? undefined : inPieces(text)),
})

async function* inPieces(text: string): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(4) // reused, as a source may do
  for (let at = 0; at < text.length; at += 4) {
    const length = piece.write(text.slice(at, at + 4))
    yield piece.subarray(0, length)
  }
}

test('a message is fetched whole, in one answer or in pieces', async () => {
  for (const batchBytes of [100, 3])
    expect(Buffer.from(await fetchBlob(sourceOf('a command', batchBytes), digest('a command'), never)).toString()).toBe(
      'a command',
    )
})

test('the empty blob is returned without a request', async () => {
  expect(await fetchBlob(sourceOf(undefined), digest(''), never)).toHaveLength(0)
})

test('a blob that the source does not have is missing', async () => {
  for (const batchBytes of [100, 3])
    await expect(fetchBlob(sourceOf(undefined, batchBytes), digest('a command'), never)).rejects.toMatchObject({
      fault: { kind: 'missing', digests: [digest('a command')] },
    })
})

test("bytes that do not match the digest are rejected, and reading stops at the digest's size", async () => {
  for (const [bytes, batchBytes] of [
    ['a Command', 100],
    ['a Command', 3],
    ['a', 3],
    ['a command and much more', 3],
  ] as const)
    await expect(fetchBlob(sourceOf(bytes, batchBytes), digest('a command'), never)).rejects.toThrow(
      'do not match its digest',
    )
})

test('a message of 1 TiB is refused as invalid', async () => {
  const huge = { ...digest('x'), size: 2 ** 40 }
  await expect(fetchBlob(sourceOf('x'), huge, never)).rejects.toMatchObject({ fault: { kind: 'invalid' } })
})
