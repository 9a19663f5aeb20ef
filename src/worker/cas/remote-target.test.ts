import { expect, test } from 'vitest'
import { digestListOf } from '../../base/digest-list.ts'
import { digestOf } from '../../base/hashing/hash-of.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { memoryStore } from '../../storage/memory-store.ts'
import { type OutputBlob, outputInMemory } from '../outputs/blob-target.ts'
import { remoteTarget } from './remote-target.ts'

const never = new AbortController().signal
const blobOf = (content: string | Uint8Array): OutputBlob =>
  outputInMemory(digestOf('sha256', Buffer.from(content)), Buffer.from(content))
const large = (fill: string): OutputBlob => blobOf(Buffer.alloc(300 * 1024, fill))

/** A store that records the calls to it. */
function heard() {
  const inner = memoryStore()
  const calls: string[] = []
  const store: BlobStore = {
    ...inner,
    missing(list, absent) {
      calls.push(`missing ${list.count}`)
      return inner.missing(list, absent)
    },
    writeMany(list, blobs) {
      calls.push(`writeMany ${list.count}`)
      return inner.writeMany(list, blobs)
    },
    write(digest, form) {
      calls.push(`write ${digest.size}`)
      return inner.write(digest, form)
    },
  }
  const has = async ({ digest }: OutputBlob): Promise<boolean> => {
    const absent = new Uint8Array(1)
    await inner.missing(digestListOf('sha256', [digest]), absent)
    return absent[0] === 0
  }
  return { store, calls, has, inner }
}

test('store sends one missing query, one batch of small blobs, streams large ones, and skips blobs that are present', async () => {
  const { store, calls, has, inner } = heard()
  const held = blobOf('held')
  await inner.writeMany(digestListOf('sha256', [held.digest]), [Buffer.from('held')])
  const blobs = [blobOf('one'), large('a'), blobOf('two'), held, large('b'), blobOf('')]
  await remoteTarget(store).store(blobs, never)
  expect(calls.toSorted()).toEqual(['missing 6', 'write 307200', 'write 307200', 'writeMany 3'])
  for (const blob of blobs) expect(await has(blob)).toBe(true)
})

test('small blobs are split into batches of 10 (2 MB) each', async () => {
  const { store, calls } = heard()
  const blobs = Array.from({ length: 30 }, (_, i) => blobOf(Buffer.alloc(200 * 1024, i)))
  await remoteTarget(store).store(blobs, never)
  expect(calls.toSorted()).toEqual(['missing 30', 'writeMany 10', 'writeMany 10', 'writeMany 10'])
})

test('a few bytes are sent without a missing query, and the empty blob is not sent', async () => {
  const { store, calls, has } = heard()
  const blobs = [blobOf('one'), blobOf(''), blobOf(Buffer.alloc(4000))]
  await remoteTarget(store).store(blobs, never)
  expect(calls).toEqual(['writeMany 2'])
  for (const blob of blobs.filter(({ digest }) => digest.size > 0)) expect(await has(blob)).toBe(true)
})

test('storing no blobs makes no call', async () => {
  const { store, calls } = heard()
  await remoteTarget(store).store([], never)
  expect(calls).toEqual([])
})

test('an aborted store writes no blob', async () => {
  const { store, has } = heard()
  const blob = large('a')
  await expect(remoteTarget(store).store([blob], AbortSignal.abort())).rejects.toThrow()
  expect(await has(blob)).toBe(false)
})
