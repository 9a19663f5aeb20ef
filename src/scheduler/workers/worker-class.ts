import { type Amounts, amountsText, bucketFloor, bucketNumber, fitsWithin } from '../model/amounts.ts'
import type { Property, Register } from '../model/events.ts'
import type { Requirements } from '../queue/requirement-group.ts'
import type { WorkerPool } from '../queue/worker-pool.ts'
import type { Worker } from './worker.ts'

/**
 * Workers that offer the same, and have as much to within a power of two: what one of them can serve, all can. Ten
 * thousand workers are a handful of these.
 */
export interface WorkerClass {
  readonly number: number
  readonly key: string
  readonly offers: ReadonlyMap<string, ReadonlySet<string>>
  readonly preemptible: boolean
  /** The least that one of them has. */
  readonly floor: Amounts
  readonly pools: WorkerPool[]
  readonly workers: Worker[]
  /** Workers that take tasks now or will again when a slot falls free. */
  live: number
  /** Those with a slot free, by how much room they have. */
  readonly openBySpace: Map<number, OpenWorkers>
  /** Those that are full and would stage something ahead. */
  readonly stagers: Worker[]
  /** How much its workers have exactly, and how many have that. */
  readonly shapes: Map<string, { readonly total: Amounts; count: number }>
  /** How far the instances that it serves have been served: where one that is new begins. */
  clock: number
}

/** Open workers that have as much room to within a power of two. */
export interface OpenWorkers {
  /** The least that one of them has left. */
  readonly floor: Amounts
  readonly workers: Worker[]
}

export function openWorkersFor({ openBySpace }: WorkerClass, free: Amounts): OpenWorkers {
  const bucket = bucketNumber(free)
  const known = openBySpace.get(bucket)
  if (known !== undefined) return known
  const made: OpenWorkers = { floor: bucketFloor(bucket), workers: [] }
  openBySpace.set(bucket, made)
  return made
}

/** Offered for a name, it stands for every value. */
const ANY = '*'

export function makeWorkerClass(
  number: number,
  key: string,
  { properties, preemptible = false, total }: OfferedResources,
): WorkerClass {
  const offers = new Map<string, Set<string>>()
  for (const { name, value } of properties) {
    const values = offers.get(name)
    if (values === undefined) offers.set(name, new Set([value]))
    else values.add(value)
  }
  return {
    number,
    key,
    offers,
    preemptible,
    floor: bucketFloor(bucketNumber(total)),
    pools: [],
    workers: [],
    live: 0,
    openBySpace: new Map(),
    stagers: [],
    shapes: new Map(),
    clock: 0,
  }
}

export interface OfferedResources extends Pick<Register, 'properties' | 'preemptible'> {
  readonly total: Amounts
}

export function classKey({ properties, preemptible = false, total }: OfferedResources): string {
  const parts = new Set(properties.map(({ name, value }) => `${name.length}:${name}${value.length}:${value}`))
  return `${preemptible ? 'p' : ''}${bucketNumber(total)};${[...parts].sort().join('')}`
}

export const offersProperty = ({ offers }: WorkerClass, { name, value }: Property): boolean => {
  const values = offers.get(name)
  return values !== undefined && (values.has(value) || values.has(ANY))
}

/**
 * Whether a worker of it may serve such a lane, whose tasks ask for `least` at the least. Whether one has room for a
 * task of it is another question.
 */
export const serves = (
  workers: WorkerClass,
  { properties, refusesPreemptible }: Requirements,
  least: Amounts,
): boolean =>
  !(refusesPreemptible && workers.preemptible) &&
  fitsWithin(least, workers.floor) &&
  properties.every((property) => offersProperty(workers, property))

/** Whether one of its workers, were it empty, could hold so much. */
export function couldHold(workers: WorkerClass, demand: Amounts): boolean {
  for (const { total } of workers.shapes.values()) if (fitsWithin(demand, total)) return true
  return false
}

/** Workers mostly come in a few sizes: those of a size share the numbers. */
export const sharedTotal = ({ shapes }: WorkerClass, total: Amounts): Amounts =>
  shapes.get(amountsText(total))?.total ?? total

/** True when such a worker is new. */
export function addShape({ shapes }: WorkerClass, total: Amounts): boolean {
  const key = amountsText(total)
  const known = shapes.get(key)
  if (known === undefined) shapes.set(key, { total, count: 1 })
  else known.count++
  return known === undefined
}

export function removeShape({ shapes }: WorkerClass, total: Amounts): void {
  const key = amountsText(total)
  const known = shapes.get(key)
  if (known !== undefined && --known.count === 0) shapes.delete(key)
}
