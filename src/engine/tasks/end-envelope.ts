/**
 * How a task's end lies in the journal: why it ended, in one byte with three flags, when it was last queued and when it
 * started, how many attempts never were (in a second form of it, for most have none), the blobs that its result names,
 * then the result's own bytes.
 */
import type { Digest } from '../../base/digest.ts'
import type { EndWhy } from '../../scheduler/model/effects.ts'

/** In the order of their numbers; never renumbered. */
const WHYS: readonly EndWhy[] = [
  'result',
  'timeout',
  'cancelled',
  'no-worker',
  'poison',
  'faults',
  'hopeless',
  'unrecorded',
]
const FAULTS = WHYS.indexOf('faults')
const FLAG = { cached: 128, result: 64, roots: 32 } as const
const FIXED_BYTES = 18
const VERSION = 1
/** With a number of two bytes after the fixed ones. */
const WITH_UNSTARTED = 2
const MOST_UNSTARTED = 0xffff

export interface SealedEnd {
  readonly why: EndWhy
  readonly queuedAt: number
  /** A worker that never said so is taken to have started when it was done: that is not worth a record of its own. */
  readonly startedAt: number | undefined
  /** Attempts that came to nothing before they were started. */
  readonly unstarted: number
  /** It was taken from the cache. */
  readonly cached: boolean
  readonly result: Uint8Array | undefined
  readonly roots: readonly Digest[]
}

export function sealEnd({ why, queuedAt, startedAt, unstarted, cached, result, roots }: SealedEnd): Uint8Array {
  const names = roots.length === 0 ? undefined : Buffer.from(JSON.stringify(roots))
  const fixed = FIXED_BYTES + (unstarted > 0 ? 2 : 0)
  const start = fixed + (names === undefined ? 0 : 4 + names.length)
  const bytes = Buffer.allocUnsafe(start + (result?.length ?? 0))
  bytes[0] = unstarted > 0 ? WITH_UNSTARTED : VERSION
  bytes[1] =
    numberOf(why) | (cached ? FLAG.cached : 0) | (result ? FLAG.result : 0) | (names === undefined ? 0 : FLAG.roots)
  bytes.writeDoubleLE(queuedAt, 2)
  bytes.writeDoubleLE(startedAt ?? 0, 10)
  if (unstarted > 0) bytes.writeUInt16LE(Math.min(unstarted, MOST_UNSTARTED), FIXED_BYTES)
  if (names !== undefined) {
    bytes.writeUInt32LE(names.length, fixed)
    bytes.set(names, fixed + 4)
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
  const fixed = FIXED_BYTES + (envelope?.[0] === WITH_UNSTARTED ? 2 : 0)
  if (envelope === undefined || envelope.length < fixed || !isKnown(envelope[0])) return UNKNOWN
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.length)
  const kind = bytes.readUInt8(1)
  const start = fixed + (kind & FLAG.roots ? 4 + bytes.readUInt32LE(fixed) : 0)
  const roots = kind & FLAG.roots ? (JSON.parse(bytes.toString('utf8', fixed + 4, start)) as Digest[]) : []
  return {
    why: (WHYS[kind & 31] ?? 'faults') as EndWhy,
    queuedAt: bytes.readDoubleLE(2),
    startedAt: bytes.readDoubleLE(10) || undefined,
    unstarted: fixed === FIXED_BYTES ? 0 : bytes.readUInt16LE(FIXED_BYTES),
    cached: (kind & FLAG.cached) !== 0,
    result: kind & FLAG.result ? envelope.subarray(start) : undefined,
    roots,
  }
}

const isKnown = (version: number | undefined): boolean => version === VERSION || version === WITH_UNSTARTED

const UNKNOWN: SealedEnd = {
  why: 'unrecorded',
  queuedAt: 0,
  startedAt: undefined,
  unstarted: 0,
  cached: false,
  result: undefined,
  roots: [],
}
