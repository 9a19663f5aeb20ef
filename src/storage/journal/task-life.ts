import type { FinalState, TaskState } from '../../model/task-state.ts'
import type { Accepted, Finished, RecordedFencing, Requeued, TaskFact } from './fact.ts'
import type { Lease } from './journal.ts'

/** The state of a task after its facts. Parts are replaced and never modified, so a shallow copy is enough. */
export interface TaskLife {
  readonly task: string
  state: TaskState
  priority: number
  attempt: number
  lease: Lease | undefined
  lostWorkers: readonly string[]
  faults: number
  due: number | undefined
  requeueReason: string | undefined
  cancel: { readonly reason: string; readonly at: number } | undefined
  end: { readonly state: FinalState; readonly reason: string; readonly at: number } | undefined
  result: Uint8Array | undefined
}

export const beginLife = ({ task, priority }: Pick<Accepted, 'task' | 'priority'>): TaskLife => ({
  task,
  state: 'queued',
  priority,
  attempt: 0,
  lease: undefined,
  lostWorkers: NO_WORKERS,
  faults: 0,
  due: undefined,
  requeueReason: undefined,
  cancel: undefined,
  end: undefined,
  result: undefined,
})

const NO_WORKERS: readonly string[] = []

/** The parts of a task's state that a fact has changed. `late` means that the end came too late and changed nothing. */
export const CHANGED = { nothing: 0, lease: 1, course: 2, end: 4, late: 8, priority: 16 } as const

/** Whether no fact other than `accepted` and `raised` has changed the task. */
export const isJustAccepted = ({ lease, end, cancel, requeueReason, due }: TaskLife): boolean =>
  (lease ?? end ?? cancel ?? requeueReason ?? due) === undefined

/** Applies a fact to an open task. Facts about operations change nothing here. */
export function applyFact(life: TaskLife, fact: TaskFact): number {
  switch (fact.kind) {
    case 'leased':
      if (life.lease !== undefined && !isLater(fact.fencing, life.lease.fencing)) return CHANGED.nothing
      life.lease = { worker: fact.worker, fencing: fact.fencing, at: fact.at, startedAt: undefined }
      life.attempt = fact.attempt
      life.state = 'assigned'
      return CHANGED.lease
    case 'started':
      if (life.lease === undefined || !isSame(fact.fencing, life.lease.fencing)) return CHANGED.nothing
      life.lease = { ...life.lease, startedAt: fact.at }
      if (life.state === 'assigned') life.state = 'running'
      return CHANGED.lease
    case 'requeued':
      return requeue(life, fact)
    case 'raised':
      life.priority = fact.priority
      return CHANGED.priority
    case 'cancel-asked':
      life.cancel ??= { reason: fact.reason, at: fact.at }
      if (life.state === 'assigned' || life.state === 'running') life.state = 'stopping'
      return CHANGED.lease | CHANGED.course
    case 'finished':
      return finish(life, fact)
    default:
      return CHANGED.nothing
  }
}

function requeue(life: TaskLife, fact: Requeued): number {
  life.lease = undefined
  life.state = fact.state
  life.attempt = fact.attempt
  life.lostWorkers = fact.lostWorkers
  life.faults = fact.faults ?? 0
  life.due = fact.due
  life.requeueReason = fact.reason
  return CHANGED.lease | CHANGED.course
}

function finish(life: TaskLife, fact: Finished): number {
  const { fencing } = fact
  if (fencing !== undefined && !(life.lease !== undefined && isSame(fencing, life.lease.fencing))) return CHANGED.late
  life.state = fact.state
  life.end = { state: fact.state, reason: fact.reason, at: fact.at }
  life.result = fact.result
  return CHANGED.end
}

const isSame = (one: RecordedFencing, other: RecordedFencing): boolean =>
  one.epoch === other.epoch && one.counter === other.counter

const isLater = (one: RecordedFencing, other: RecordedFencing): boolean =>
  one.epoch > other.epoch || (one.epoch === other.epoch && one.counter > other.counter)
