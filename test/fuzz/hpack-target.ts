import { HpackDecoder } from '../../src/grpc/hpack/decoder.ts'
import { HpackError } from '../../src/grpc/hpack/hpack-error.ts'
import type { Input } from './input.ts'
import type { Run } from './target.ts'

const MOST_BYTES = 8192

/** Feeds blocks to one decoder: it may throw only an HpackError, which ends the connection. */
export function hpackRun(_input: Input): Run {
  const decoder = new HpackDecoder({ maxTableBytes: 4096, maxListBytes: MOST_BYTES })
  const problems: string[] = []
  let isBroken = false

  const decode = (block: Buffer): void => {
    const { fields, bytes, overflowed } = decoder.decode(block, 0, block.length)
    let sum = 0
    for (const { name, value } of fields) sum += name.length + value.length + 32
    if (sum > MOST_BYTES) problems.push(`a list of ${sum} bytes came through`)
    if (overflowed !== bytes > MOST_BYTES) problems.push(`${bytes} bytes, overflowed: ${overflowed}`)
    if (!overflowed && sum !== bytes) problems.push(`${bytes} bytes were counted, ${sum} are there`)
  }

  return {
    step(step) {
      if (step.do !== 'bytes' || isBroken) return
      try {
        decode(step.bytes)
      } catch (error) {
        if (!(error instanceof HpackError)) throw error
        isBroken = true
      }
    },
    finish() {},
    problems: () => problems,
  }
}
