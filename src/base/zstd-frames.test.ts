import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ZstdFrames } from './zstd-frames.ts'

const text = Buffer.from('to be or not to be, '.repeat(20_000))
const skippable = (bytes: number) => {
  const frame = Buffer.alloc(8 + bytes, 0x5a)
  frame.writeUInt32LE(0x184d2a53, 0)
  frame.writeUInt32LE(bytes, 4)
  return frame
}

/** Feeds the bytes in pieces, and returns the frames; undefined when they are refused or truncated. */
function framesOf(bytes: Uint8Array, pieceBytes: number): Buffer[] | undefined {
  const frames: Buffer[] = []
  let parts: Buffer[] = []
  const walker = new ZstdFrames({
    bytes: (part) => parts.push(Buffer.from(part)),
    frameEnd() {
      frames.push(Buffer.concat(parts))
      parts = []
    },
  })
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (!walker.push(bytes.subarray(at, at + pieceBytes))) return undefined
  }
  return walker.isWhole ? frames : undefined
}

const one = zstdCompressSync(text)
const checked = zstdCompressSync(Buffer.alloc(300_000, 1), { params: { 201: 1 } })
const empty = zstdCompressSync(Buffer.alloc(0))

test.each([1, 2, 3, 7, 100, 65_536, 10_000_000])('zstd frames are found in pieces of %i bytes', (piece) => {
  const stream = Buffer.concat([one, skippable(0), checked, skippable(9), empty, one])
  expect(framesOf(stream, piece)).toEqual([one, checked, empty, one])
  expect(Buffer.concat((framesOf(stream, piece) ?? []).map((frame) => zstdDecompressSync(frame))).length).toBe(
    text.length * 2 + 300_000,
  )
})

test.each([1, 5, 4096])('truncated zstd, trailing bytes and other data are refused', (piece) => {
  expect(framesOf(one.subarray(0, one.length - 1), piece)).toBeUndefined()
  expect(framesOf(Buffer.concat([one, Buffer.from('ju')]), piece)).toBeUndefined()
  expect(framesOf(Buffer.concat([one, Buffer.from('junk')]), piece)).toBeUndefined()
  expect(framesOf(text, piece)).toBeUndefined()
  expect(framesOf(Buffer.alloc(0), piece)).toBeUndefined()
})

test('5,000 empty zstd frames are refused', () => {
  expect(framesOf(Buffer.concat(Array.from({ length: 5000 }, () => empty)), 4096)).toBeUndefined()
})
