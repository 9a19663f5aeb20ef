import { type Amounts, bucketFloor, bucketNumber, describeAmounts } from '../model/amounts.ts'
import type { Instant, Property } from '../model/events.ts'
import type { Task } from './task.ts'
import type { WorkerPool } from './worker-pool.ts'

/**
 * All queued tasks that ask for the same: the same properties exactly, and as much to within a power of two. In order
 * of arrival. Which lane a task is in says which workers can serve it; its turn it waits for in a line of the pool.
 */
export interface RequirementGroup extends Requirements {
  /** Its place in the table of all lanes; set by the table. */
  number: number
  pool: WorkerPool
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
export interface Requirements {
  /** In the order of their names, and of the values of one name. */
  readonly properties: readonly Property[]
  readonly refusesPreemptible: boolean
  readonly bucket: number
}

export interface RequestedRequirements {
  readonly properties: readonly Property[]
  readonly refusesPreemptible: boolean
  readonly demand: Amounts
}

const FIRST_GUESS_MS = 1000
const LEARNING = 0.2

export function makeRequirementGroup(requirements: Requirements, pool: WorkerPool, graceMs: number): RequirementGroup {
  const { properties, refusesPreemptible, bucket } = requirements
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

export const requirementsOf = ({ properties, refusesPreemptible, demand }: RequestedRequirements): Requirements => ({
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
export function describeGroup({ properties, bucket, refusesPreemptible }: RequirementGroup): string {
  const parts = properties.map(({ name, value }) => `${name}=${value}`).sort()
  const amounts = describeAmounts(bucketFloor(bucket))
  if (amounts !== '') parts.push(amounts)
  if (refusesPreemptible) parts.push('not preemptible')
  return parts.length === 0 ? 'anything' : parts.join(', ')
}

/** Whole milliseconds: a fraction could not be kept within the lane, and would be one more thing to fetch. */
export function learnDuration(group: RequirementGroup, tookMs: number): void {
  group.estimateMs = Math.round(group.estimateMs + LEARNING * (tookMs - group.estimateMs))
}

/** What the caller says counts, but not below a quarter of what we have seen: saying less would be a way to more. */
export const estimatedMs = ({ estimateMs, group }: Task): number =>
  Math.max(1, estimateMs === undefined ? group.estimateMs : Math.max(estimateMs, group.estimateMs / 4))

export function joinGroup(group: RequirementGroup, task: Task): void {
  const { tail } = group
  task.groupPrevious = tail
  if (tail === undefined) group.head = task
  else tail.groupNext = task
  group.tail = task
  task.inGroup = true
  group.queued++
}

export function leaveGroup(group: RequirementGroup, task: Task): void {
  if (!task.inGroup) return
  const { groupNext: next, groupPrevious: previous } = task
  if (previous === undefined) group.head = next
  else previous.groupNext = next
  if (next === undefined) group.tail = previous
  else next.groupPrevious = previous
  task.groupNext = undefined
  task.groupPrevious = undefined
  task.inGroup = false
  group.queued--
}
