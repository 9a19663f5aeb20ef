import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { hashOf } from '../../base/hashing/hash-of.ts'
import { randomFrom } from '../../testing/random-source.ts'
import type { BlobStore } from '../blob-store.ts'
import { blobStoreContract } from '../contract.ts'
import { memoryStore } from '../memory-store.ts'
import { keepingZstdForms } from './keeping-zstd-forms.ts'
import { zstdCompressors } from './zstd-compressors.ts'

const compressors = zstdCompressors(2)
afterAll(() => compressors.close())

const random = randomFrom(8878)
const text = Buffer.alloc(900_000, 'a line of source code, again and again\n')
const noise = random.bytes(900_000)

const digestOf = (bytes: Uint8Array): Digest => ({
  fn: 'sha256',
  hash: Buffer.from(hashOf('sha256', bytes)).toString('hex'),
  size: bytes.length,
})

function storesOf(): { store: BlobStore; inner: BlobStore; forms: BlobStore } {
  const inner = memoryStore()
  const forms = memoryStore()
  return { inner, forms, store: keepingZstdForms({ forms, compressors })(inner) }
}

async function put(store: BlobStore, bytes: Uint8Array, form: 'identity' | 'zstd' = 'identity'): Promise<Digest> {
  const digest = digestOf(bytes)
  const writer = store.write(digest, form)
  await writer.write(form === 'zstd' ? zstdCompressSync(bytes) : bytes)
  await writer.commit()
  return digest
}

async function readZstd(store: BlobStore, digest: Digest): Promise<Buffer | undefined> {
  const reader = await store.read(digest, { offset: 0, acceptZstd: true, onlyZstd: true })
  if (reader === undefined) return undefined
  expect(reader.form).toBe('zstd')
  const pieces: Buffer[] = []
  for await (const piece of reader.pieces) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

const holds = async (store: BlobStore, digest: Digest): Promise<boolean> =>
  (await store.read(digest, { offset: 0, acceptZstd: true })) !== undefined

blobStoreContract('with zstd forms', () => storesOf().store)

describe('a reader that accepts only zstd', () => {
  test('gets a blob compressed, and the compressed form is stored for the next reader', async () => {
    const { store, forms } = storesOf()
    const digest = await put(store, text)
    const first = await readZstd(store, digest)
    expect(first?.length).toBeLessThan(text.length / 10)
    expect(zstdDecompressSync(first ?? '').equals(text)).toBe(true)
    expect(await holds(forms, digest)).toBe(true)
    expect((await readZstd(store, digest))?.equals(first ?? Buffer.alloc(0))).toBe(true)
  })

  test('gets raw zstd blocks for an incompressible blob, and no compressed form is stored', async () => {
    const { store, forms } = storesOf()
    const digest = await put(store, noise)
    for (let time = 0; time < 2; time++) {
      const read = await readZstd(store, digest)
      expect(read?.length).toBe(noise.length + 14 + 3 * Math.ceil(noise.length / (128 * 1024)))
      expect(zstdDecompressSync(read ?? '').equals(noise)).toBe(true)
    }
    expect(await holds(forms, digest)).toBe(false)
  })

  test.each([1, 4095, 4096, 65_535, 65_536, 131_072, 131_073])(
    'gets the right content of a blob of %i bytes',
    async (size) => {
      const { store } = storesOf()
      for (const bytes of [text.subarray(0, size), noise.subarray(0, size)]) {
        const read = await readZstd(store, await put(store, bytes))
        expect(zstdDecompressSync(read ?? '').equals(bytes)).toBe(true)
      }
    },
  )

  test('gets a blob stored as zstd unchanged', async () => {
    const { store, forms } = storesOf()
    const digest = await put(store, text, 'zstd')
    expect((await readZstd(store, digest))?.equals(zstdCompressSync(text))).toBe(true)
    expect(await holds(forms, digest)).toBe(false)
  })

  test('gets undefined for an evicted blob, even when its compressed form is stored', async () => {
    const { store, forms } = storesOf()
    await put(forms, text, 'zstd')
    expect(await readZstd(store, digestOf(text))).toBeUndefined()
  })

  test('leaves no partial compressed form when it stops early', async () => {
    const { store, forms } = storesOf()
    const digest = await put(store, Buffer.concat([text, noise, text]))
    const reader = await store.read(digest, { offset: 0, acceptZstd: true, onlyZstd: true })
    for await (const _piece of reader?.pieces ?? []) break
    expect(await holds(forms, digest)).toBe(false)
    expect(zstdDecompressSync((await readZstd(store, digest)) ?? '').length).toBe(digest.size)
    expect(await holds(forms, digest)).toBe(true)
  })

  test('is served when the compressed form cannot be stored', async () => {
    const inner = memoryStore()
    const forms: BlobStore = {
      ...memoryStore(),
      write: () => ({ write: () => Promise.reject(new Error('disk full')), commit: async () => {}, abort() {} }),
    }
    const store = keepingZstdForms({ forms, compressors })(inner)
    const read = await readZstd(store, await put(store, text))
    expect(zstdDecompressSync(read ?? '').equals(text)).toBe(true)
  })

  test('gets raw blocks at once while clients that do not read on hold all contexts', async () => {
    const { store, forms } = storesOf()
    const long = Array.from({ length: 3 }, (_, n) => Buffer.concat([text, Buffer.alloc(n + 1), noise, text]))
    const [one, two, three] = await Promise.all(long.map((bytes) => put(store, bytes)))
    const stalled: AsyncIterator<Uint8Array>[] = []
    for (const digest of [one, two]) {
      const reader = await store.read(digest as Digest, { offset: 0, acceptZstd: true, onlyZstd: true })
      const pieces = reader?.pieces[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
      expect((await pieces.next()).done).toBe(false)
      stalled.push(pieces)
    }
    const read = await readZstd(store, three as Digest)
    expect(read?.length).toBeGreaterThan(long[2]?.length as number)
    expect(zstdDecompressSync(read ?? '').equals(long[2] as Buffer)).toBe(true)
    expect(await holds(forms, three as Digest)).toBe(false)
    for (const pieces of stalled) await pieces.return?.()
    expect((await readZstd(store, three as Digest))?.length).toBeLessThan(long[2]?.length as number)
    expect(await holds(forms, three as Digest)).toBe(true)
  })

  test('shares two contexts with many others, each with a frame of its own', async () => {
    const { store } = storesOf()
    const blobs = Array.from({ length: 24 }, (_, n) => Buffer.concat([text.subarray(n), noise.subarray(0, 1000 * n)]))
    const digests = await Promise.all(blobs.map((bytes) => put(store, bytes)))
    const read = await Promise.all(digests.map((digest) => readZstd(store, digest)))
    expect(read.map((bytes, n) => zstdDecompressSync(bytes ?? '').equals(blobs[n] ?? Buffer.alloc(0)))).toEqual(
      blobs.map(() => true),
    )
  })
})
