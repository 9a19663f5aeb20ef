import { constants, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ZSTD_HEADER_BYTES, zstdContentSize } from './zstd-content-size.ts'

test.each([0, 1, 255, 256, 257, 65_535, 65_791, 65_792, 200_000, 20_000_000])(
  'the size of a frame of %i bytes is read from its header',
  (size) => {
    const zstd = zstdCompressSync(Buffer.alloc(size))
    expect(zstdContentSize(zstd.subarray(0, ZSTD_HEADER_BYTES))).toBe(size)
  },
)

test('a frame without a content size gives undefined', () => {
  const params = { [constants.ZSTD_c_contentSizeFlag]: 0 }
  expect(zstdContentSize(zstdCompressSync(Buffer.alloc(1000), { params }))).toBeUndefined()
})

test('bytes that are no frame, or only its beginning, give undefined', () => {
  const zstd = zstdCompressSync(Buffer.alloc(200_000))
  for (let length = 0; length < 9; length++) expect(zstdContentSize(zstd.subarray(0, length))).toBeUndefined()
  expect(zstdContentSize(Buffer.from('not zstd at all, but long enough'))).toBeUndefined()
})
