/**
 * How the journal stores the bytes of a task. The three envelopes put the fields that only the engine needs in front of
 * the bytes of a door or worker, which the engine does not read:
 * - spec: a length, a JSON header with what scheduling needs after a restart, then the spec
 * - note: one byte of flags, then the note of the operation
 * - end: version, reason and flags, two times, the blobs that the result names, then the result
 */
import type { Digest } from '../../base/digest.ts'
import type { EndWhy } from '../../scheduler/model/effects.ts'
import type { Property, ResourceAmounts } from '../../scheduler/model/events.ts'
import type { Durability } from '../../storage/journal/fact.ts'
import type { TaskOptions } from './task-request.ts'

const SPEC_FLAG = { refusesPreemptible: 1, interactive: 2, cacheable: 4 } as const

/** The names are short because every task stores them. */
interface SpecHeader {
  /** Property names and values, alternating. */
  p?: readonly string[]
  d?: ResourceAmounts
  a?: readonly string[]
  t?: number
  e?: number
  m?: number
  f?: number
  r?: readonly Digest[]
}

export function sealSpec(options: TaskOptions, spec: Uint8Array): Uint8Array {
  const header = JSON.stringify(headerOf(options))
  const start = 4 + Buffer.byteLength(header)
  const envelope = Buffer.allocUnsafe(start + spec.length)
  envelope.writeUInt32LE(start - 4, 0)
  envelope.write(header, 4)
  envelope.set(spec, start)
  return envelope
}

function headerOf(options: TaskOptions): SpecHeader {
  const header: SpecHeader = {}
  const { properties, demands, affinity, roots } = options
  if (properties?.length) {
    const flat: string[] = []
    for (const { name, value } of properties) flat.push(name, value)
    header.p = flat
  }
  if (demands !== undefined) header.d = demands
  if (affinity?.length) header.a = affinity
  if (options.timeoutMs !== undefined) header.t = options.timeoutMs
  if (options.estimateMs !== undefined) header.e = options.estimateMs
  if (options.maxRetries !== undefined) header.m = options.maxRetries
  const flags =
    (options.refusesPreemptible ? SPEC_FLAG.refusesPreemptible : 0) |
    (options.interactive ? SPEC_FLAG.interactive : 0) |
    (options.cacheable ? SPEC_FLAG.cacheable : 0)
  if (flags !== 0) header.f = flags
  if (roots?.length) header.r = roots
  return header
}

/** Throws when `sealSpec` did not write the bytes. */
export function openSpec(envelope: Uint8Array): { readonly options: TaskOptions; readonly spec: Uint8Array } {
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.length)
  const end = 4 + bytes.readUInt32LE(0)
  if (end > bytes.length) throw new RangeError('the spec is shorter than its header says')
  const { p = [], d, a, t, e, m, f = 0, r } = JSON.parse(bytes.toString('utf8', 4, end)) as SpecHeader
  const properties: Property[] = []
  for (let i = 0; i + 1 < p.length; i += 2) properties.push({ name: p[i] ?? '', value: p[i + 1] ?? '' })
  const options: TaskOptions = {
    properties,
    demands: d ?? {},
    ...(a && { affinity: a }),
    ...(t !== undefined && { timeoutMs: t }),
    ...(e !== undefined && { estimateMs: e }),
    ...(m !== undefined && { maxRetries: m }),
    ...(r && { roots: r }),
    refusesPreemptible: (f & SPEC_FLAG.refusesPreemptible) !== 0,
    interactive: (f & SPEC_FLAG.interactive) !== 0,
    cacheable: (f & SPEC_FLAG.cacheable) !== 0,
  }
  return { options, spec: envelope.subarray(end) }
}

const NOTE_FLAG = { needsWaiter: 1, power: 2, note: 4 } as const

export interface SealedNote {
  readonly needsWaiter: boolean
  /** The durability that the client of this operation requested. */
  readonly durability: Durability
  readonly note: Uint8Array | undefined
}

/** Returns undefined when every field has its default: the journal then stores nothing. */
export function sealNote({ needsWaiter, durability, note }: SealedNote): Uint8Array | undefined {
  const flags =
    (needsWaiter ? NOTE_FLAG.needsWaiter : 0) |
    (durability === 'power' ? NOTE_FLAG.power : 0) |
    (note ? NOTE_FLAG.note : 0)
  if (flags === 0) return undefined
  const bytes = Buffer.allocUnsafe(1 + (note?.length ?? 0))
  bytes[0] = flags
  if (note !== undefined) bytes.set(note, 1)
  return bytes
}

export function openNote(bytes: Uint8Array | undefined): SealedNote {
  const flags = bytes?.[0] ?? 0
  return {
    needsWaiter: (flags & NOTE_FLAG.needsWaiter) !== 0,
    durability: flags & NOTE_FLAG.power ? 'power' : 'process',
    note: flags & NOTE_FLAG.note ? bytes?.subarray(1) : undefined,
  }
}

/** The index is the number in the journal: never reorder. */
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
const END_FLAG = { cached: 128, result: 64, roots: 32 } as const
const FIXED_BYTES = 18
const VERSION = 1
/** Has the number of unstarted attempts, two bytes, after the fixed fields. */
const VERSION_WITH_UNSTARTED = 2
const MOST_UNSTARTED = 0xffff

export interface SealedEnd {
  readonly why: EndWhy
  readonly queuedAt: number
  /** Undefined when the worker reported no start. */
  readonly startedAt: number | undefined
  /** Attempts that failed or were returned before the worker started them. */
  readonly unstarted: number
  /** The result is from the action cache. */
  readonly cached: boolean
  readonly result: Uint8Array | undefined
  readonly roots: readonly Digest[]
}

export function sealEnd({ why, queuedAt, startedAt, unstarted, cached, result, roots }: SealedEnd): Uint8Array {
  const names = roots.length === 0 ? undefined : Buffer.from(JSON.stringify(roots))
  const fixed = FIXED_BYTES + (unstarted > 0 ? 2 : 0)
  const start = fixed + (names === undefined ? 0 : 4 + names.length)
  const number = WHYS.indexOf(why)
  const flags = (cached ? END_FLAG.cached : 0) | (result ? END_FLAG.result : 0) | (names ? END_FLAG.roots : 0)
  const bytes = Buffer.allocUnsafe(start + (result?.length ?? 0))
  bytes[0] = unstarted > 0 ? VERSION_WITH_UNSTARTED : VERSION
  bytes[1] = (number < 0 ? FAULTS : number) | flags
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

/** For an end without an envelope, or with an unknown version, only the state is known. */
export function openEnd(envelope: Uint8Array | undefined): SealedEnd {
  const version = envelope?.[0]
  const fixed = FIXED_BYTES + (version === VERSION_WITH_UNSTARTED ? 2 : 0)
  const isKnown = version === VERSION || version === VERSION_WITH_UNSTARTED
  if (envelope === undefined || envelope.length < fixed || !isKnown) return UNKNOWN_END
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.length)
  const kind = bytes.readUInt8(1)
  const start = fixed + (kind & END_FLAG.roots ? 4 + bytes.readUInt32LE(fixed) : 0)
  return {
    why: WHYS[kind & 31] ?? 'faults',
    queuedAt: bytes.readDoubleLE(2),
    startedAt: bytes.readDoubleLE(10) || undefined,
    unstarted: fixed === FIXED_BYTES ? 0 : bytes.readUInt16LE(FIXED_BYTES),
    cached: (kind & END_FLAG.cached) !== 0,
    result: kind & END_FLAG.result ? envelope.subarray(start) : undefined,
    roots: kind & END_FLAG.roots ? (JSON.parse(bytes.toString('utf8', fixed + 4, start)) as Digest[]) : [],
  }
}

const UNKNOWN_END: SealedEnd = {
  why: 'unrecorded',
  queuedAt: 0,
  startedAt: undefined,
  unstarted: 0,
  cached: false,
  result: undefined,
  roots: [],
}
