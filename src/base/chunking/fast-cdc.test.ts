import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyStream, chunkerContract, countingStream, cutsOf, cyclicStream, randomStream, summary } from './contract.ts'
import { fastCdc } from './fast-cdc.ts'
import type { FastCdcOptions } from './fast-cdc-plan.ts'

/** A failed property prints its seed; WINDLASS_SEED repeats that run. */
const runSeed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 200, ...(runSeed === undefined ? {} : { seed: Number(runSeed) }) })

describe('FastCDC with 1 KiB average', () => chunkerContract(fastCdc({ averageBytes: 1024 })))
describe('FastCDC with 16 KiB average and a seed', () => chunkerContract(fastCdc({ averageBytes: 16_384, seed: 666 })))

/** Cuts of reproducible streams by the crate fastcdc 3.2.1 (v2020, level 2). */
const KNOWN: readonly { name: string; stream: Uint8Array; params: FastCdcOptions; cuts: string }[] = [
  {
    name: 'noise by 1 KiB',
    stream: randomStream(1_048_576),
    params: { averageBytes: 1024 },
    cuts: '900 cuts: 1018 2118 3966 … ab337688c3b24c0a',
  },
  {
    name: 'noise of odd length by 4 KiB',
    stream: randomStream(1_000_003),
    params: { averageBytes: 4096 },
    cuts: '211 cuts: 4236 9897 14022 … d7a72570837468c0',
  },
  {
    name: 'noise by 8 KiB, seeded',
    stream: randomStream(4_194_304),
    params: { averageBytes: 8192, seed: 0xdeadbeef },
    cuts: '453 cuts: 2492 14944 27941 … 5fc68854e75f1c10',
  },
  {
    name: 'noise by 16 KiB',
    stream: randomStream(4_194_304),
    params: { averageBytes: 16_384 },
    cuts: '227 cuts: 19889 37912 55570 … d9d54ef1142a9058',
  },
  {
    name: 'noise by 512 KiB',
    stream: randomStream(33_554_432),
    params: { averageBytes: 524_288 },
    cuts: '58 cuts: 598766 1130264 1659465 … dca2081e3fd48d73',
  },
  {
    name: 'noise by 1 MiB',
    stream: randomStream(16_777_216),
    params: { averageBytes: 1_048_576 },
    cuts: '16 cuts: 1100582 2206455 3448930 … b5178723a94c83d8',
  },
  {
    name: 'numbers by 2 KiB',
    stream: countingStream(4_194_304),
    params: { averageBytes: 2048 },
    cuts: '1809 cuts: 2202 4257 7105 … 5061934155f7b8ab',
  },
  {
    name: 'numbers by 64 KiB',
    stream: countingStream(4_194_304),
    params: { averageBytes: 65_536 },
    cuts: '58 cuts: 67727 139179 173677 … b4878f70b2ac45ec',
  },
  {
    name: 'a cycle by 4 KiB',
    stream: cyclicStream(1_048_576),
    params: { averageBytes: 4096 },
    cuts: '254 cuts: 4212 8332 12495 … 2c3b8b48cca6cfb2',
  },
]

test.each(KNOWN)('$name is cut where the reference implementation cuts it', ({ stream, params, cuts }) => {
  expect(summary(cutsOf(fastCdc(params)(), [stream]))).toBe(cuts)
})

/** Values for a picture that is too large for this repository, from the protocol's fastcdc2020_test_vectors.txt. */
const PICTURE_SHA256 = 'd9e749d9367fc908876749d6502eb212fee88c9a94892fb07da5ef3ba8bc39ed'
const PICTURE_CUTS: readonly (readonly [number, readonly number[]])[] = [
  [0, [19_186, 38_465, 55_819, 72_206, 92_146, 109_466]],
  [666, [17_635, 34_969, 54_105, 71_572, 95_165, 109_466]],
]
const picture = process.env.SEKIEN_AKASHITA
const skipReason = 'SEKIEN_AKASHITA does not name SekienAkashita.jpg from the fixtures of nlfiedler/fastcdc-rs'

test.each(PICTURE_CUTS)(
  'the published FastCDC vectors hold with seed %i',
  {
    skip: picture === undefined,
    meta: { skipReason },
  },
  (seed, cuts) => {
    const stream = readFileSync(picture as string)
    expect(hash('sha256', stream)).toBe(PICTURE_SHA256)
    expect(cutsOf(fastCdc({ averageBytes: 16_384, seed })(), [stream])).toEqual(cuts)
  },
)

test('FastCDC cuts where a direct implementation of its definition cuts', () => {
  fc.assert(
    fc.property(anyStream, fc.constantFrom(0, 1, 0xffffffff), (stream, seed) => {
      expect(cutsOf(fastCdc({ averageBytes: 1024, seed })(), [stream])).toEqual(plainCuts(stream, seed))
    }),
  )
})

test('a stream is not cut before its last byte when only that byte would match', () => {
  const stream = randomStream(20_000)
  const newChunker = fastCdc({ averageBytes: 1024 })
  const even = cutsOf(newChunker(), [stream]).find((cut, i, cuts) => (cut - (cuts[i - 1] ?? 0)) % 2 === 0) as number
  expect(cutsOf(newChunker(), [stream.subarray(0, even + 1)])).not.toContain(even)
  expect(cutsOf(newChunker(), [stream.subarray(0, even + 2)])).toContain(even)
})

test('a stream of zeros is cut at the maximum chunk size', () => {
  expect(cutsOf(fastCdc({ averageBytes: 1024 })(), [new Uint8Array(10_000)])).toEqual([4096, 8192, 10_000])
})

test.each([512, 1000, 1025, 2_097_152, 0, Number.NaN])('an average chunk size of %d is refused', (averageBytes) => {
  expect(() => fastCdc({ averageBytes })).toThrow(RangeError)
})

test.each([-1, 2 ** 32, 0.5])('a seed of %d is refused', (seed) => {
  expect(() => fastCdc({ averageBytes: 1024, seed })).toThrow(RangeError)
})

/** A direct implementation for an average of 1 KiB, over the whole stream, with a BigInt hash. */
function plainCuts(stream: Uint8Array, seed: number): number[] {
  const gear = Array.from({ length: 256 }, (_, byte) => {
    const md5 = hash('md5', Buffer.alloc(64, byte), 'buffer')
    return md5.readBigUInt64BE() ^ BigInt(seed)
  })
  const cuts: number[] = []
  for (let start = 0; start < stream.length; start = cuts.at(-1) as number) {
    const length = Math.min(stream.length - start, 4096)
    let rolling = 0n
    let cut = length
    for (let at = 256; at < length - (length % 2); at += 1) {
      rolling = (rolling << 1n) + (gear[stream[start + at] as number] as bigint)
      if ((rolling & (at < 1024 ? 0x0000d90103530000n : 0x0000001800035300n)) !== 0n) continue
      cut = at
      break
    }
    cuts.push(start + cut)
  }
  return cuts
}
