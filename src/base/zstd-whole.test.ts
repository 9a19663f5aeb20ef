import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { zstdDecompressed } from './zstd-whole.ts'

const text = Buffer.from('to be or not to be, '.repeat(1_000))
const one = zstdCompressSync(text)
const empty = zstdCompressSync(Buffer.alloc(0))

/** Some servers begin their streams with a skippable frame. */
function skippable(bytes: number): Buffer {
  const frame = Buffer.alloc(8 + bytes, 0x5a)
  frame.writeUInt32LE(0x184d2a50, 0)
  frame.writeUInt32LE(bytes, 4)
  return frame
}

test.each([
  ['one frame', [one], 1],
  ['a skippable frame first', [skippable(12), one], 1],
  ['several frames, some of them empty or skippable', [empty, one, skippable(0), one, empty, one, skippable(3)], 3],
  ['nothing but an empty frame', [empty], 0],
  ['nothing but a skippable frame', [skippable(5)], 0],
])('zstdDecompressed accepts %s', (_, frames, times) => {
  const whole = Buffer.concat(Array.from({ length: times }, () => text))
  expect(Buffer.from(zstdDecompressed(Buffer.concat(frames), whole.length))).toEqual(whole)
})

test.each([
  ['cut short', one.subarray(0, one.length - 1), 'cut short'],
  ['followed by something else', Buffer.concat([one, Buffer.from('junk')]), 'not zstd'],
  ['not zstd at all', text, 'not zstd'],
  ['nothing', Buffer.alloc(0), 'cut short'],
  ['of the right shape and the wrong content', Buffer.from(one).fill(0xff, 12, one.length - 4), ''],
])('zstdDecompressed refuses data that is %s', (_, bytes, message) => {
  expect(() => zstdDecompressed(bytes, 1_000_000)).toThrow(message)
})

test('zstdDecompressed throws RangeError when the output exceeds the limit, in one frame or over several', () => {
  const megabyte = zstdCompressSync(Buffer.alloc(1024 * 1024))
  const eight = Buffer.concat(Array.from({ length: 8 }, () => megabyte))
  expect(() => zstdDecompressed(megabyte, 1024 * 1024 - 1)).toThrow(RangeError)
  expect(() => zstdDecompressed(eight, 8 * 1024 * 1024 - 1)).toThrow(RangeError)
  expect(() => zstdDecompressed(Buffer.concat([one, zstdCompressSync(Buffer.from('x'))]), text.length)).toThrow(
    RangeError,
  )
  expect(zstdDecompressed(eight, 8 * 1024 * 1024).length).toBe(8 * 1024 * 1024)
})
