/**
 * How a task's end lies in the journal: why it ended, in one byte with three flags, when it was last queued and when it
 * started, the blobs that its result names, then the result's own bytes.
 */
import type { Digest } from '../base/digest.ts'
import type { EndWhy } from '../scheduler/effects.ts'

/** In the order of their numbers; never renumbered. */
const WHYS: readonly EndWhy[] = ['result', 'timeout', 'cancelled', 'no-worker', 'poison', 'faults', 'hopeless']
const FAULTS = WHYS.indexOf('faults')
const FLAG = { cached: 128, result: 64, roots: 32 } as const
const FIXED_BYTES = 18
const VERSION = 1

export interface SealedEnd {
  readonly why: EndWhy
  readonly queuedAt: number
  /** A worker that never said so is taken to have started when it was done: that is not worth a record of its own. */
  readonly startedAt: number | undefined
  /** It was taken from the cache. */
  readonly cached: boolean
  readonly result: Uint8Array | undefined
  readonly roots: readonly Digest[]
}

export function sealEnd({ why, queuedAt, startedAt, cached, result, roots }: SealedEnd): Uint8Array {
  const names = roots.length === 0 ? undefined : Buffer.from(JSON.stringify(roots))
  const start = FIXED_BYTES + (names === undefined ? 0 : 4 + names.length)
  const bytes = Buffer.allocUnsafe(start + (result?.length ?? 0))
  bytes[0] = VERSION
  bytes[1] =
    numberOf(why) | (cached ? FLAG.cached : 0) | (result ? FLAG.result : 0) | (names === undefined ? 0 : FLAG.roots)
  bytes.writeDoubleLE(queuedAt, 2)
  bytes.writeDoubleLE(startedAt ?? 0, 10)
  if (names !== undefined) {
    bytes.writeUInt32LE(names.length, FIXED_BYTES)
    bytes.set(names, FIXED_BYTES + 4)
  }
  if (result !== undefined) bytes.set(result, start)
  return bytes
}

function numberOf(why: EndWhy): number {
  const number = WHYS.indexOf(why)
  return number < 0 ? FAULTS : number
}

/** Reads what `sealEnd` wrote. Nothing at all is an end of which only the state is known. */
export function openEnd(envelope: Uint8Array | undefined): SealedEnd {
  if (envelope === undefined || envelope.length < FIXED_BYTES || envelope[0] !== VERSION) return UNKNOWN
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.length)
  const kind = bytes.readUInt8(1)
  const start = FIXED_BYTES + (kind & FLAG.roots ? 4 + bytes.readUInt32LE(FIXED_BYTES) : 0)
  const roots = kind & FLAG.roots ? (JSON.parse(bytes.toString('utf8', FIXED_BYTES + 4, start)) as Digest[]) : []
  return {
    why: (WHYS[kind & 31] ?? 'faults') as EndWhy,
    queuedAt: bytes.readDoubleLE(2),
    startedAt: bytes.readDoubleLE(10) || undefined,
    cached: (kind & FLAG.cached) !== 0,
    result: kind & FLAG.result ? envelope.subarray(start) : undefined,
    roots,
  }
}

const UNKNOWN: SealedEnd = {
  why: 'faults',
  queuedAt: 0,
  startedAt: undefined,
  cached: false,
  result: undefined,
  roots: [],
}
