import type { Requirements } from '../model/requirements.ts'
import type { RequirementGroup, Task, WorkerPool } from './records.ts'

const FIRST_GUESS_MS = 1000
const LEARNING = 0.2

export function makeRequirementGroup(
  { properties, refusesPreemptible, bucket }: Requirements,
  pool: WorkerPool,
  graceMs: number,
): RequirementGroup {
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

/** Updates the learned duration. Whole milliseconds: V8 would store a fraction outside of the object. */
export function learnDuration(group: RequirementGroup, tookMs: number): void {
  group.estimateMs = Math.round(group.estimateMs + LEARNING * (tookMs - group.estimateMs))
}

/** The caller's estimate counts, but at least a quarter of the learned duration: a low estimate must not gain a share. */
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
