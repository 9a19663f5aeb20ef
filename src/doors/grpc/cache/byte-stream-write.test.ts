import { brotliCompressSync, deflateRawSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { FaultError } from '../../../base/fault.ts'
import { STATUS } from '../../../grpc/status.ts'
import { bytesOf, digestOf } from '../../../storage/blobs.fixture.ts'
import { memoryStore } from '../../../storage/memory-store.ts'
import { base64, testDoor } from './door.fixture.ts'

const WRITE = 'ByteStream.Write'
const QUERY = 'ByteStream.QueryWriteStatus'
const INVALID = { code: STATUS.invalidArgument }
const blob = Buffer.from('a blob in several pieces')
const { hash, size } = digestOf(blob)
const ID = '9f8f4a3e-0000-4000-8000-000000000000'
const NAME = `main/uploads/${ID}/blobs/${hash}/${size}`

const first = (end: number, more = {}) => ({ resourceName: NAME, data: base64(blob.subarray(0, end)), ...more })
const later = (from: number, end: number, more = {}) => ({
  writeOffset: String(from),
  data: base64(blob.subarray(from, end)),
  ...more,
})
const whole = first(size, { finishWrite: true })

describe('ByteStream.Write', () => {
  test('an upload may repeat or omit the resource name, and may finish with an empty message', async () => {
    const { send, instance } = testDoor()
    const again = later(5, 9, { resourceName: NAME })
    const end = { writeOffset: String(size), finishWrite: true }
    expect(await send(WRITE, [first(5), again, later(9, size), end])).toEqual({ committedSize: String(size) })
    expect(await bytesOf(instance.blobs, digestOf(blob))).toEqual(blob)
  })

  test.each([
    ['nothing at all', []],
    ['a name that changes midway', [first(5), later(5, 9, { resourceName: NAME.replace('9f8f', '0000') })]],
    ['an offset that leaves a gap', [first(5), later(6, size)]],
    ['an offset that goes back', [first(5), later(4, size)]],
    ['more than the digest says', [first(size), { writeOffset: String(size), data: base64(blob) }]],
    ['other bytes than the digest says', [{ ...whole, data: base64(Buffer.alloc(size)) }]],
    ['an end that comes too soon', [first(5, { finishWrite: true })]],
    ['no end', [first(size)]],
    ['an offset where nothing is', [{ ...later(5, size, { finishWrite: true }), resourceName: NAME }]],
  ])('an upload with %s is refused with INVALID_ARGUMENT, and nothing is stored', async (_, requests) => {
    const { send, unary } = testDoor()
    await expect(send(WRITE, requests)).rejects.toMatchObject(INVALID)
    expect((await unary<Status>(QUERY, { resourceName: NAME })).complete).toBeUndefined()
  })

  test.each([
    ['', 'has neither blobs/ nor uploads/'],
    [`blobs/${hash}/${size}`, 'is not for writing'],
    [`uploads//blobs/${hash}/${size}`, 'has no id'],
    [`uploads/../blobs/${hash}/${size}`, 'has no id'],
    [`uploads/${ID}/blobs/${hash}`, 'has no valid size'],
    [`uploads/${ID}/blobs/${hash}/-1`, 'has no valid size'],
    [`uploads/${ID}/blobs/${hash.toUpperCase()}/${size}`, 'not lower-case hex'],
    [`uploads/${ID}/blobs/sha256/${hash}/${size}`, 'which must not be named'],
    [`uploads/${ID}/compressed-blobs/lzma/${hash}/${size}`, 'names the compressor "lzma"'],
    [`uploads/${ID}/compressed-blobs/identity/${hash}/${size}`, 'names the compressor "identity"'],
    [`a//b/uploads/${ID}/blobs/${hash}/${size}`, 'instance name'],
  ])('the resource name "%s" is refused: it %s', async (resourceName, words) => {
    const refused = { ...INVALID, message: expect.stringContaining(words) }
    await expect(testDoor().send(WRITE, [{ ...whole, resourceName }])).rejects.toMatchObject(refused)
    await expect(testDoor().unary(QUERY, { resourceName })).rejects.toMatchObject(refused)
  })

  test('a blob above maxBlobBytes is refused at its first message', async () => {
    const { send } = testDoor({ limits: { maxBatchBytes: 1, maxBlobBytes: size - 1 } })
    await expect(send(WRITE, [first(1)])).rejects.toMatchObject({ ...INVALID, message: /larger than the limit/ })
  })
})

describe('interrupted upload', () => {
  test('an upload resumes at its committed size, only under its own resource name', async () => {
    const { send, unary } = testDoor()
    await expect(send(WRITE, [first(5), later(5, 9)], true)).rejects.toThrow('cut off')
    expect(await unary(QUERY, { resourceName: NAME })).toEqual({ committedSize: '9' })
    const other = NAME.replace('9f8f', '0000')
    expect(await unary(QUERY, { resourceName: other })).toEqual({})
    const rest = later(9, size, { finishWrite: true })
    await expect(send(WRITE, [{ ...rest, resourceName: other }])).rejects.toMatchObject(INVALID)
    expect(await send(WRITE, [{ ...rest, resourceName: NAME }])).toEqual({ committedSize: String(size) })
    expect(await unary(QUERY, { resourceName: NAME })).toEqual({ committedSize: String(size), complete: true })
  })

  test('a wrong offset keeps the committed bytes, and an upload from offset 0 replaces them', async () => {
    const { send, unary } = testDoor()
    await expect(send(WRITE, [first(9)], true)).rejects.toThrow()
    await expect(send(WRITE, [{ ...later(8, size), resourceName: NAME }])).rejects.toMatchObject(INVALID)
    expect(await unary(QUERY, { resourceName: NAME })).toEqual({ committedSize: '9' })
    await expect(send(WRITE, [first(3)], true)).rejects.toThrow()
    expect(await unary(QUERY, { resourceName: NAME })).toEqual({ committedSize: '3' })
  })

  test.each(['too many bytes', 'wrong bytes', 'a store that fails'])(
    'an upload starts at 0 again after %s',
    async (why) => {
      const full = new FaultError({ kind: 'exhausted', resource: 'disk space', retryAfterMs: 5000 })
      let isFull = why === 'a store that fails'
      const blobs = memoryStore()
      const uploads = {
        ...blobs,
        write(...given: Parameters<typeof blobs.write>) {
          const writer = blobs.write(...given)
          return { ...writer, write: (bytes: Uint8Array) => (isFull ? Promise.reject(full) : writer.write(bytes)) }
        },
      }
      const { send, unary } = testDoor({ over: why === 'a store that fails' ? { blobs, uploads } : {} })
      const requests = {
        'too many bytes': [first(9), { writeOffset: '9', data: base64(blob) }],
        'wrong bytes': [{ ...whole, data: base64(Buffer.alloc(size)) }],
        'a store that fails': [first(9)],
      }[why] as (typeof whole)[]
      await expect(send(WRITE, requests)).rejects.toBeInstanceOf(Error)
      expect(await unary(QUERY, { resourceName: NAME })).toEqual({})
      isFull = false
      expect(await send(WRITE, [whole])).toEqual({ committedSize: String(size) })
    },
  )

  test.each(['zstd', 'deflate', 'brotli'])(
    'an interrupted upload compressed with %s starts at 0 again',
    async (compressor) => {
      const { send, unary } = testDoor()
      const resourceName = NAME.replace('/blobs/', `/compressed-blobs/${compressor}/`)
      await expect(send(WRITE, [{ resourceName, data: base64(Buffer.alloc(3)) }], true)).rejects.toThrow()
      expect(await unary(QUERY, { resourceName })).toEqual({})
    },
  )
})

describe('compressed upload', () => {
  test.each([
    ['zstd', zstdCompressSync(blob)],
    ['brotli', brotliCompressSync(blob)],
  ])('committed_size of a %s upload counts the compressed bytes', async (compressor, packed) => {
    const { send, instance } = testDoor()
    const resourceName = NAME.replace('/blobs/', `/compressed-blobs/${compressor}/`)
    const half = packed.length >> 1
    const answer = await send(WRITE, [
      { resourceName, data: base64(packed.subarray(0, half)) },
      { writeOffset: String(half), data: base64(packed.subarray(half)), finishWrite: true },
    ])
    expect(answer).toEqual({ committedSize: String(packed.length) })
    expect(await bytesOf(instance.blobs, digestOf(blob))).toEqual(blob)
  })

  test.each(['zstd', 'deflate', 'brotli'])(
    'data that is not %s, or is truncated, is refused with INVALID_ARGUMENT',
    async (compressor) => {
      const { send } = testDoor()
      const resourceName = NAME.replace('/blobs/', `/compressed-blobs/${compressor}/`)
      for (const data of [Buffer.from('this is not packed'), zstdCompressSync(blob).subarray(0, 9), Buffer.alloc(0)]) {
        const sent = send(WRITE, [{ resourceName, data: base64(data), finishWrite: true }])
        await expect(sent).rejects.toMatchObject(INVALID)
      }
    },
  )
})

test.each([
  ['deflate', deflateRawSync(Buffer.alloc(20_000_000))],
  ['brotli', brotliCompressSync(Buffer.alloc(20_000_000))],
  ['zstd', zstdCompressSync(Buffer.alloc(20_000_000))],
])(
  '%s data that decompresses to more than its digest states is refused with INVALID_ARGUMENT',
  async (compressor, bomb) => {
    const resourceName = NAME.replace('/blobs/', `/compressed-blobs/${compressor}/`)
    const sent = testDoor().send(WRITE, [{ resourceName, data: base64(bomb), finishWrite: true }])
    await expect(sent).rejects.toMatchObject(INVALID)
  },
)

describe('upload of a blob that is already stored', () => {
  test('the answer follows the first message: the size, or -1 for a compressed upload', async () => {
    const { send, put, unary } = testDoor()
    await put(blob)
    expect(await send(WRITE, [first(3), later(1, 2)])).toEqual({ committedSize: String(size) })
    const packed = NAME.replace('/blobs/', '/compressed-blobs/zstd/')
    expect(await send(WRITE, [{ ...first(3), resourceName: packed }])).toEqual({ committedSize: '-1' })
    expect(await unary(QUERY, { resourceName: NAME })).toEqual({ committedSize: String(size), complete: true })
  })
})

interface Status {
  complete?: boolean
}
