import { brotliCompressSync, deflateRawSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { FaultError } from '../../../base/fault.ts'
import { STATUS } from '../../../grpc/status.ts'
import { digestOf, listOf as listOfDigests } from '../../../storage/blobs.fixture.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { base64, nameOf, testDoor } from './door.fixture.ts'

const CAS = 'ContentAddressableStorage'
const limits = { maxBatchBytes: 1000, maxBlobBytes: 10_000 }
const foo = Buffer.from('foo')
const bar = Buffer.from('bar')
const listOf = (blobs: readonly Uint8Array[]) => listOfDigests(blobs.map((bytes) => digestOf(bytes)))
const INVALID = { code: STATUS.invalidArgument }

const update = (bytes: Uint8Array, more = {}) => ({ digest: nameOf(bytes), data: base64(bytes), ...more })

describe('FindMissingBlobs', () => {
  test('a missing digest is returned once, and a stored one not at all', async () => {
    const { put, unary } = testDoor()
    await put(foo)
    const blobDigests = [nameOf(foo), nameOf(bar), nameOf(bar)]
    expect(await unary(`${CAS}.FindMissingBlobs`, { blobDigests })).toEqual({ missingBlobDigests: [nameOf(bar)] })
    expect(await unary(`${CAS}.FindMissingBlobs`, {})).toEqual({})
  })

  test('hash and size identify a blob, and an invalid hash is refused with INVALID_ARGUMENT', async () => {
    const { put, unary } = testDoor()
    await put(foo)
    const other = { ...nameOf(foo), sizeBytes: '4' }
    expect(await unary(`${CAS}.FindMissingBlobs`, { blobDigests: [other] })).toEqual({ missingBlobDigests: [other] })
    for (const hash of ['', 'abc', 'A'.repeat(64), `${nameOf(foo).hash}0`]) {
      const asked = unary(`${CAS}.FindMissingBlobs`, { blobDigests: [{ hash, sizeBytes: '3' }] })
      await expect(asked, `"${hash}"`).rejects.toMatchObject(INVALID)
    }
  })
})

describe('BatchUpdateBlobs', () => {
  test('an invalid blob is refused by its own status, and the others are stored', async () => {
    const { unary, instance } = testDoor()
    const requests = [
      update(foo),
      { ...update(bar), data: base64(foo) },
      { ...update(bar), data: base64(Buffer.from('barbar')) },
      { ...update(bar), data: base64(Buffer.from('not zstd')), compressor: 'ZSTD' },
      { ...update(bar), compressor: 77 },
    ]
    const { responses } = await unary<Answers>(`${CAS}.BatchUpdateBlobs`, { requests })
    expect(responses.map(({ status }) => status.code ?? 0)).toEqual([0, 3, 3, 3, 3])
    expect(responses.slice(1).map(({ status }) => status.message)).toEqual([
      'the blob does not match its digest',
      'the blob has 6 bytes, its digest says 3',
      expect.stringContaining('the data is not zstd'),
      'the compressor of the data is not supported',
    ])
    const absent = new Uint8Array(2)
    await instance.blobs.missing(listOf([foo, bar]), absent)
    expect([...absent]).toEqual([0, 1])
  })

  test('compressed data must decompress to exactly the size of its digest', async () => {
    const { unary } = testDoor()
    const text = Buffer.from('text '.repeat(50))
    const bomb = zstdCompressSync(Buffer.alloc(1_000_000))
    const requests = [
      { ...update(text), data: base64(zstdCompressSync(text)), compressor: 'ZSTD' },
      { ...update(text), data: base64(deflateRawSync(text)), compressor: 'DEFLATE' },
      { ...update(text), data: base64(brotliCompressSync(text)), compressor: 'BROTLI' },
      { ...update(text), data: base64(bomb), compressor: 'ZSTD' },
      { ...update(text), data: base64(zstdCompressSync(foo)), compressor: 'ZSTD' },
    ]
    const { responses } = await unary<Answers>(`${CAS}.BatchUpdateBlobs`, { requests })
    expect(responses.map(({ status }) => status.code ?? 0)).toEqual([0, 0, 0, 3, 3])
  })

  test('a batch above maxBatchBytes is refused as a whole with INVALID_ARGUMENT', async () => {
    const { unary } = testDoor({ limits })
    const exactly = [update(Buffer.alloc(600)), update(Buffer.alloc(400))]
    await unary(`${CAS}.BatchUpdateBlobs`, { requests: exactly })
    const more = unary(`${CAS}.BatchUpdateBlobs`, { requests: [...exactly, update(foo)] })
    await expect(more).rejects.toMatchObject({ ...INVALID, message: expect.stringContaining('1003 bytes') })
    // Sizes that only a digest states count as well: nothing is decompressed to check them.
    const claimed = { digest: { ...nameOf(foo), sizeBytes: '1001' }, data: base64(zstdCompressSync(foo)) }
    const claiming = unary(`${CAS}.BatchUpdateBlobs`, { requests: [{ ...claimed, compressor: 'ZSTD' }] })
    await expect(claiming).rejects.toMatchObject(INVALID)
  })

  test('a full store refuses the batch with RESOURCE_EXHAUSTED and a retry delay', async () => {
    const full = new FaultError({ kind: 'exhausted', resource: 'disk space', retryAfterMs: 5000 })
    const blobs = { ...memoryStore(), writeMany: () => Promise.reject(full) }
    const asked = testDoor({ over: { blobs } }).unary(`${CAS}.BatchUpdateBlobs`, { requests: [update(foo)] })
    await expect(asked).rejects.toMatchObject({ code: STATUS.resourceExhausted, details: expect.any(Uint8Array) })
  })
})

describe('BatchReadBlobs', () => {
  test('each digest is answered in order, absent ones with NOT_FOUND', async () => {
    const { put, unary } = testDoor()
    await put(foo, bar)
    const baz = Buffer.from('baz')
    const digests = [bar, baz, foo, bar].map(nameOf)
    const { responses } = await unary<Answers>(`${CAS}.BatchReadBlobs`, { digests })
    expect(responses.map(({ digest }) => digest)).toEqual(digests)
    expect(responses.map(({ data }) => data)).toEqual([base64(bar), undefined, base64(foo), base64(bar)])
    expect(responses[1]?.status.code).toBe(STATUS.notFound)
  })

  test('a request above maxBatchBytes is refused with INVALID_ARGUMENT, whether the blobs are stored or not', async () => {
    const { unary } = testDoor({ limits })
    const digests = [{ ...nameOf(foo), sizeBytes: '1001' }]
    await expect(unary(`${CAS}.BatchReadBlobs`, { digests })).rejects.toMatchObject(INVALID)
    const endless = [{ ...nameOf(foo), sizeBytes: String(Number.MAX_SAFE_INTEGER) }]
    await expect(unary(`${CAS}.BatchReadBlobs`, { digests: endless })).rejects.toMatchObject(INVALID)
  })

  test('a blob that gets smaller is compressed for clients that accept zstd', async () => {
    const { put, unary } = testDoor()
    const text = Buffer.from('text '.repeat(100))
    await put(text, foo)
    const request = { digests: [text, foo].map(nameOf), acceptableCompressors: ['ZSTD'] }
    const { responses } = await unary<Answers>(`${CAS}.BatchReadBlobs`, request)
    expect(responses.map(({ compressor }) => compressor)).toEqual(['ZSTD', undefined])
    expect(responses[1]?.data).toBe(base64(foo))
  })
})

interface Answers {
  responses: Answer[]
}

interface Answer {
  digest: { hash: string }
  status: { code?: number; message?: string }
  data?: string
  compressor?: string
}
