import { createCipheriv, hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Chunker, NewChunker } from './chunker.ts'

/** The behaviour of every chunker, independent of its parameters. */
export function chunkerContract(newChunker: NewChunker): void {
  test('an empty stream has no chunks', () => {
    const chunker = newChunker()
    expect(chunker.push(new Uint8Array())).toEqual([])
    expect(chunker.finish()).toEqual([])
  })

  test('cuts are in ascending order, and the last is the length of the stream', () => {
    fc.assert(
      fc.property(anyStream, (stream) => {
        const cuts = cutsOf(newChunker(), [stream])
        expect(cuts).toEqual([...new Set(cuts)].sort((a, b) => a - b))
        expect(cuts.at(-1) ?? 0).toBe(stream.length)
      }),
    )
  })

  test('the cuts do not depend on how the stream is divided into pushes', () => {
    fc.assert(
      fc.property(anyStream, fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1 }), (stream, sizes) => {
        expect(cutsOf(newChunker(), pieces(stream, sizes))).toEqual(cutsOf(newChunker(), [stream]))
      }),
    )
  })

  test('a chunker can be reused after finish()', () => {
    fc.assert(
      fc.property(anyStream, anyStream, (first, second) => {
        const chunker = newChunker()
        cutsOf(chunker, [first])
        expect(cutsOf(chunker, [second])).toEqual(cutsOf(newChunker(), [second]))
      }),
    )
  })

  test('the caller may reuse pushed bytes at once', () => {
    const stream = randomStream(200_000)
    const buffer = new Uint8Array(4096)
    const reused = function* () {
      for (const piece of pieces(stream, [4096])) {
        buffer.set(piece)
        yield buffer.subarray(0, piece.length)
        buffer.fill(0)
      }
    }
    expect(cutsOf(newChunker(), reused())).toEqual(cutsOf(newChunker(), [stream]))
  })
}

export function cutsOf(chunker: Chunker, stream: Iterable<Uint8Array>): number[] {
  const cuts: number[] = []
  for (const piece of stream) for (const cut of chunker.push(piece)) cuts.push(cut)
  return [...cuts, ...chunker.finish()]
}

/** The number of cuts, the first three, and the start of the SHA-256 of all cuts in decimal, joined by commas. */
export const summary = (cuts: readonly number[]): string =>
  `${cuts.length} cuts: ${cuts.slice(0, 3).join(' ')} … ${hash('sha256', cuts.join(',')).slice(0, 16)}`

/** The stream in pieces of these sizes, repeated; in one piece when all sizes are 0. */
function* pieces(stream: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  const step = sizes.some((size) => size > 0) ? sizes : [stream.length]
  for (let from = 0, i = 0; from < stream.length; i += 1) {
    const to = from + (step[i % step.length] as number)
    yield stream.subarray(from, to)
    from = to
  }
}

/** Reproducible with any tool: `head -c N /dev/zero | openssl enc -aes-128-ctr -K 00…00 -iv 00…00`, 16 zero bytes each. */
export const randomStream = (length: number): Uint8Array =>
  createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(length))

/** `seq 1 N | head -c LENGTH`. */
export function countingStream(length: number): Uint8Array {
  const lines: string[] = []
  for (let n = 1, size = 0; size < length; n += 1) size += (lines[lines.push(`${n}\n`) - 1] as string).length
  return Buffer.from(lines.join('')).subarray(0, length)
}

/** 0, 1, … 250, 0, 1, … */
export const cyclicStream = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251)

/** Noise, two letters and repeating patterns, concatenated: chunkers often have defects where hashes are equal. */
export const anyStream: fc.Arbitrary<Uint8Array> = fc
  .array(
    fc.oneof(
      fc.nat(40_000).chain((from) => fc.nat(9000).map((length) => NOISE.subarray(from, from + length))),
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.constantFrom(0, 255), { maxLength: 200 }).map((letters) => Uint8Array.from(letters)),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 70 }), fc.nat(5000))
        .map(([motif, length]) => Uint8Array.from({ length }, (_, i) => motif[i % motif.length] as number)),
    ),
    { maxLength: 5 },
  )
  .map((parts) => Buffer.concat(parts))

const NOISE = randomStream(50_000)
