import { type Amounts, amountsInWords, bucketFloor, bucketNumber } from '../model/amounts.ts'
import type { Instant, Property } from '../model/events.ts'
import type { Task } from './task.ts'
import type { Pool } from './worker-pool.ts'

/**
 * All queued tasks that ask for the same: the same properties exactly, and as much to within a power of two. In order
 * of arrival. Which lane a task is in says which workers can serve it; its turn it waits for in a line of the pool.
 */
export interface Lane extends Wants {
  /** Its place in the table of all lanes; set by the table. */
  number: number
  pool: Pool
  head: Task | undefined
  tail: Task | undefined
  queued: number
  active: number
  /** All of these, and those between two tries. */
  unfinished: number
  /** Of the queued: those that no worker which is there could ever hold. */
  parked: number
  /** How long its tasks take, as far as we have seen. */
  estimateMs: number
  /** When it is looked at for tasks that nothing fits. */
  lookAt: Instant
  /** How long a task that nothing fits waits. */
  readonly graceMs: number
}

/** What decides which classes of workers serve it. */
export interface Wants {
  /** In the order of their names, and of the values of one name. */
  readonly properties: readonly Property[]
  readonly refusesPreemptible: boolean
  readonly bucket: number
}

export interface Ask {
  readonly properties: readonly Property[]
  readonly refusesPreemptible: boolean
  readonly demand: Amounts
}

const FIRST_GUESS_MS = 1000
const LEARNING = 0.2

export function makeLane(wants: Wants, pool: Pool, graceMs: number): Lane {
  const { properties, refusesPreemptible, bucket } = wants
  return {
    number: 0,
    properties,
    refusesPreemptible,
    bucket,
    pool,
    head: undefined,
    tail: undefined,
    queued: 0,
    active: 0,
    unfinished: 0,
    parked: 0,
    estimateMs: FIRST_GUESS_MS,
    lookAt: Number.POSITIVE_INFINITY,
    graceMs,
  }
}

export const wantsOf = ({ properties, refusesPreemptible, demand }: Ask): Wants => ({
  properties: isInOrder(properties) ? properties : [...properties].sort(byName),
  refusesPreemptible,
  bucket: bucketNumber(demand),
})

const byName = (one: Property, other: Property): number =>
  compare(one.name, other.name) || compare(one.value, other.value)

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** Names that differ and come in order, as protocols ask for: then there is nothing to sort. */
function isInOrder(properties: readonly Property[]): boolean {
  for (let i = 1; i < properties.length; i++)
    if ((properties[i - 1] as Property).name >= (properties[i] as Property).name) return false
  return true
}

/** For metrics and people. */
export function laneInWords({ properties, bucket, refusesPreemptible }: Lane): string {
  const parts = properties.map(({ name, value }) => `${name}=${value}`).sort()
  const amounts = amountsInWords(bucketFloor(bucket))
  if (amounts !== '') parts.push(amounts)
  if (refusesPreemptible) parts.push('not preemptible')
  return parts.length === 0 ? 'anything' : parts.join(', ')
}

/** Whole milliseconds: a fraction could not be kept within the lane, and would be one more thing to fetch. */
export function learn(lane: Lane, tookMs: number): void {
  lane.estimateMs = Math.round(lane.estimateMs + LEARNING * (tookMs - lane.estimateMs))
}

/** What the caller says counts, but not below a quarter of what we have seen: saying less would be a way to more. */
export const estimateFor = ({ estimateMs, lane }: Task): number =>
  Math.max(1, estimateMs === undefined ? lane.estimateMs : Math.max(estimateMs, lane.estimateMs / 4))

export function joinLane(lane: Lane, task: Task): void {
  const { tail } = lane
  task.lanePrevious = tail
  if (tail === undefined) lane.head = task
  else tail.laneNext = task
  lane.tail = task
  task.inLane = true
  lane.queued++
}

export function leaveLane(lane: Lane, task: Task): void {
  if (!task.inLane) return
  const { laneNext: next, lanePrevious: previous } = task
  if (previous === undefined) lane.head = next
  else previous.laneNext = next
  if (next === undefined) lane.tail = previous
  else next.lanePrevious = previous
  task.laneNext = undefined
  task.lanePrevious = undefined
  task.inLane = false
  lane.queued--
}
