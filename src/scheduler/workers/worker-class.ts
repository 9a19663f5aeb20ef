import type { Property, Register } from '../model/events.ts'
import {
  type Amounts,
  amountsText,
  bucketFloor,
  bucketNumber,
  fitsWithin,
  type Requirements,
} from '../model/requirements.ts'
import type { OpenWorkers, WorkerClass } from './records.ts'

export function openWorkersFor({ openBySpace }: WorkerClass, free: Amounts): OpenWorkers {
  const bucket = bucketNumber(free)
  const known = openBySpace.get(bucket)
  if (known !== undefined) return known
  const made: OpenWorkers = { floor: bucketFloor(bucket), workers: [] }
  openBySpace.set(bucket, made)
  return made
}

/** As an offered value it matches every requested value. */
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
 * Whether workers of the class can serve tasks with these requirements that demand at least `least`. Whether a worker
 * has enough free for a given task is checked later.
 */
export const serves = (
  workers: WorkerClass,
  { properties, refusesPreemptible }: Requirements,
  least: Amounts,
): boolean =>
  !(refusesPreemptible && workers.preemptible) &&
  fitsWithin(least, workers.floor) &&
  properties.every((property) => offersProperty(workers, property))

/** Whether one of its workers could hold the demand if it were idle. */
export function couldHold(workers: WorkerClass, demand: Amounts): boolean {
  for (const { total } of workers.shapes.values()) if (fitsWithin(demand, total)) return true
  return false
}

/** Most workers have one of a few sizes; workers of one size share the object. */
export const sharedTotal = ({ shapes }: WorkerClass, total: Amounts): Amounts =>
  shapes.get(amountsText(total))?.total ?? total

/** Returns true when no worker of the class had this size before. */
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
