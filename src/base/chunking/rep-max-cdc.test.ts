import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyStream, chunkerContract, countingStream, cutsOf, cyclicStream, randomStream, summary } from './contract.ts'
import { type RepMaxCdcOptions, repMaxCdc } from './rep-max-cdc.ts'

/** A failed property prints its seed; WINDLASS_SEED repeats that run. */
const runSeed = process.env.WINDLASS_SEED
fc.configureGlobal({ numRuns: 200, ...(runSeed === undefined ? {} : { seed: Number(runSeed) }) })

describe('RepMaxCDC with 1 KiB minimum', () => chunkerContract(repMaxCdc({ minBytes: 1024, horizonBytes: 8192 })))
describe('RepMaxCDC with a short horizon', () => chunkerContract(repMaxCdc({ minBytes: 64, horizonBytes: 70 })))

/**
 * The protocol publishes no vectors. These are the cuts of reproducible streams by buildbarn/go-cdc 0.0.10, the
 * implementation that the protocol names (its two chunkers agree).
 */
const KNOWN: readonly { name: string; stream: Uint8Array; params: RepMaxCdcOptions; cuts: string }[] = [
  {
    name: 'noise by 1 KiB',
    stream: randomStream(1_048_576),
    params: { minBytes: 1024, horizonBytes: 8192 },
    cuts: '773 cuts: 1433 2754 3924 … ced4bc65580b30c0',
  },
  {
    name: 'noise by 64 bytes',
    stream: randomStream(1_048_576),
    params: { minBytes: 64, horizonBytes: 512 },
    cuts: '12298 cuts: 110 209 280 … 14066dd5bc3e94b6',
  },
  {
    name: 'noise with the recommended parameters',
    stream: randomStream(16_777_216),
    params: { minBytes: 262_144, horizonBytes: 2_097_152 },
    cuts: '49 cuts: 452005 829045 1111894 … 0b6a82aa508dcdef',
  },
  {
    name: 'noise with a horizon of one minimum',
    stream: randomStream(1_000_003),
    params: { minBytes: 2048, horizonBytes: 2048 },
    cuts: '330 cuts: 2754 5275 7661 … 2ad0ca9a49d88849',
  },
  {
    name: 'noise with odd parameters',
    stream: randomStream(1_000_003),
    params: { minBytes: 500, horizonBytes: 777 },
    cuts: '1494 cuts: 833 1433 2098 … f8d5886bbd2693c4',
  },
  {
    name: 'numbers by 4 KiB',
    stream: countingStream(4_194_304),
    params: { minBytes: 4096, horizonBytes: 32_768 },
    cuts: '762 cuts: 6341 13007 18000 … e637c13d08d0c4e2',
  },
  {
    name: 'numbers with a horizon of one minimum',
    stream: countingStream(1_048_576),
    params: { minBytes: 256, horizonBytes: 256 },
    cuts: '2749 cuts: 293 714 1134 … 97d37e591c0aa43b',
  },
  {
    name: 'a cycle by 1 KiB',
    stream: cyclicStream(1_048_576),
    params: { minBytes: 1024, horizonBytes: 8192 },
    cuts: '835 cuts: 1236 2491 3746 … 616546596a1b2c12',
  },
  {
    name: 'a cycle with a short horizon',
    stream: cyclicStream(1_048_576),
    params: { minBytes: 64, horizonBytes: 100 },
    cuts: '12533 cuts: 74 163 232 … 366596d6dd2e9ebd',
  },
]

test.each(KNOWN)('$name is cut where the reference implementation cuts it', ({ stream, params, cuts }) => {
  expect(summary(cutsOf(repMaxCdc(params)(), [stream]))).toBe(cuts)
})

const anyParams = fc.record({
  minBytes: fc.oneof(fc.integer({ min: 64, max: 200 }), fc.integer({ min: 64, max: 3000 })),
  horizonBytes: fc.oneof(fc.nat(300), fc.nat(20_000)),
})

test('RepMaxCDC cuts where a direct implementation of its definition cuts', () => {
  fc.assert(
    fc.property(anyStream, anyParams, (stream, params) => {
      expect(cutsOf(repMaxCdc(params)(), [stream])).toEqual(plainCuts(stream, params))
    }),
  )
})

test('each chunk has at least the minimum and less than twice the minimum, unless the stream is shorter', () => {
  fc.assert(
    fc.property(anyStream, anyParams, (stream, params) => {
      const cuts = cutsOf(repMaxCdc(params)(), [stream])
      const lengths = cuts.map((cut, i) => cut - (cuts[i - 1] ?? 0))
      for (const length of lengths) {
        expect(length).toBeGreaterThanOrEqual(Math.min(params.minBytes, stream.length))
        expect(length).toBeLessThan(2 * params.minBytes)
      }
    }),
  )
})

test("the mean chunk length on noise is the minimum divided by Rényi's parking constant", () => {
  const cuts = cutsOf(repMaxCdc({ minBytes: 256, horizonBytes: 8 * 256 })(), [randomStream(4_000_000)])
  expect(4_000_000 / cuts.length / 256).toBeCloseTo(1 / 0.7475979, 2)
})

test('with a horizon of 0 all chunks have the minimum length, except the last', () => {
  const cuts = cutsOf(repMaxCdc({ minBytes: 100, horizonBytes: 0 })(), [randomStream(1050)])
  expect(cuts).toEqual([100, 200, 300, 400, 500, 600, 700, 800, 900, 1050])
})

test('inserting bytes at the start changes only the cuts in the first 20,000 bytes', () => {
  const stream = randomStream(300_000)
  const newChunker = repMaxCdc({ minBytes: 1024, horizonBytes: 8192 })
  const before = cutsOf(newChunker(), [stream])
  const shifted = new Set(cutsOf(newChunker(), [new Uint8Array(777).fill(7), stream]).map((cut) => cut - 777))
  expect(before.filter((cut) => cut > 20_000 && !shifted.has(cut))).toEqual([])
})

test.each([63, 64.5, -1, Number.NaN])('a minimum chunk size of %d is refused', (minBytes) => {
  expect(() => repMaxCdc({ minBytes, horizonBytes: 0 })).toThrow(RangeError)
})

test.each([-1, 0.5, Number.POSITIVE_INFINITY])('a horizon of %d is refused', (horizonBytes) => {
  expect(() => repMaxCdc({ minBytes: 64, horizonBytes })).toThrow(RangeError)
})

/** A direct implementation of the definition, over the whole stream. */
function plainCuts(stream: Uint8Array, { minBytes, horizonBytes }: RepMaxCdcOptions): number[] {
  const hashes = gearHashes(stream)
  const cuts: number[] = []
  let start = 0
  while (stream.length - start >= 2 * minBytes) {
    const first = start + minBytes
    let last = Math.min(first + horizonBytes, stream.length - minBytes)
    for (;;) {
      let best = first
      for (let at = first + 1; at <= last; at += 1) if ((hashes[at] as bigint) > (hashes[best] as bigint)) best = at
      start = best
      if (best < first + minBytes) break
      last = best - minBytes
    }
    cuts.push(start)
  }
  return start < stream.length ? [...cuts, stream.length] : cuts
}

/** The hash of the bytes before each position. */
function gearHashes(stream: Uint8Array): BigUint64Array {
  const gear = Array.from({ length: 256 }, (_, byte) => hash('md5', Buffer.alloc(64, byte), 'buffer').readBigUInt64BE())
  const hashes = new BigUint64Array(stream.length + 1)
  for (const [i, byte] of stream.entries()) {
    hashes[i + 1] = ((hashes[i] as bigint) << 1n) + (gear[byte] as bigint) // wraps when stored
  }
  return hashes
}
