/**
 * How a task's spec lies in the journal: what the grid must know of the task to bring it back, then the door's bytes as
 * they came. Four bytes say how long the first part is, which is JSON with short names: it is read after a restart only.
 */
import type { Digest } from '../../base/digest.ts'
import type { Property, ResourceAmounts } from '../../scheduler/model/events.ts'
import type { TaskOrder } from './task-request.ts'

const FLAG = { refusesPreemptible: 1, interactive: 2, cacheable: 4 } as const

interface Header {
  /** Names and values, in turn. */
  readonly p?: readonly string[]
  readonly d?: ResourceAmounts
  readonly a?: readonly string[]
  readonly t?: number
  readonly e?: number
  readonly m?: number
  readonly f?: number
  readonly r?: readonly Digest[]
}

/** The whole envelope, and the part of it that is the door's. */
export interface Sealed {
  readonly envelope: Uint8Array
  readonly spec: Uint8Array
}

export function sealSpec(order: TaskOrder, spec: Uint8Array): Sealed {
  const header = JSON.stringify(headerOf(order))
  const start = 4 + Buffer.byteLength(header)
  const envelope = Buffer.allocUnsafe(start + spec.length)
  envelope.writeUInt32LE(start - 4, 0)
  envelope.write(header, 4)
  envelope.set(spec, start)
  return { envelope, spec: envelope.subarray(start) }
}

function headerOf(order: TaskOrder): Header {
  const header: { -readonly [Key in keyof Header]: Header[Key] } = {}
  const { properties, demands, affinity, roots } = order
  if (properties?.length) {
    const flat: string[] = []
    for (const { name, value } of properties) flat.push(name, value)
    header.p = flat
  }
  if (demands !== undefined) header.d = demands
  if (affinity?.length) header.a = affinity
  if (order.timeoutMs !== undefined) header.t = order.timeoutMs
  if (order.estimateMs !== undefined) header.e = order.estimateMs
  if (order.maxRetries !== undefined) header.m = order.maxRetries
  const flags =
    (order.refusesPreemptible ? FLAG.refusesPreemptible : 0) |
    (order.interactive ? FLAG.interactive : 0) |
    (order.cacheable ? FLAG.cacheable : 0)
  if (flags !== 0) header.f = flags
  if (roots?.length) header.r = roots
  return header
}

/** Reads what `sealSpec` wrote; throws when that is not what it is. */
export function openSpec(envelope: Uint8Array): { readonly order: TaskOrder; readonly spec: Uint8Array } {
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.length)
  const end = 4 + bytes.readUInt32LE(0)
  if (end > bytes.length) throw new RangeError('a spec is shorter than it says')
  const { p, d, a, t, e, m, f = 0, r } = JSON.parse(bytes.toString('utf8', 4, end)) as Header
  const order: TaskOrder = {
    properties: propertiesIn(p ?? []),
    demands: d ?? {},
    ...(a && { affinity: a }),
    ...(t !== undefined && { timeoutMs: t }),
    ...(e !== undefined && { estimateMs: e }),
    ...(m !== undefined && { maxRetries: m }),
    ...(r && { roots: r }),
    refusesPreemptible: (f & FLAG.refusesPreemptible) !== 0,
    interactive: (f & FLAG.interactive) !== 0,
    cacheable: (f & FLAG.cacheable) !== 0,
  }
  return { order, spec: envelope.subarray(end) }
}

function propertiesIn(flat: readonly string[]): Property[] {
  const properties: Property[] = []
  for (let i = 0; i + 1 < flat.length; i += 2) properties.push({ name: flat[i] ?? '', value: flat[i + 1] ?? '' })
  return properties
}
