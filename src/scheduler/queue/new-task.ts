import { demandedAmounts } from '../model/amounts.ts'
import type { QueuedRequest } from '../model/events.ts'
import { openInvocation } from '../shares/shares.ts'
import { affinityInput } from '../workers/affinity.ts'
import { groupFor, sharedDemand } from './matchmaking.ts'
import type { QueueState } from './queue-state.ts'
import { type InstanceState, NO_LEASE, type Task } from './records.ts'

const PRIORITIES = { least: -100, most: 100 }

const NOTHING: readonly string[] = []

/** Adds a task to the tables, without queueing it. */
export function newTask(
  grid: QueueState,
  request: QueuedRequest,
  { instance, ageMs }: { instance: InstanceState; ageMs: number },
): Task {
  const demand = demandedAmounts(request.demands)
  const { properties, refusesPreemptible = false, affinity = NOTHING } = request
  const group = groupFor(grid, { properties, refusesPreemptible, demand })
  const invocation = openInvocation(instance, request.invocation)
  const task: Task = {
    // The order of the fields in memory: first those that every decision reads or writes, last the rarely used ones.
    id: request.task,
    state: 'pending',
    leaseNumber: NO_LEASE,
    group,
    demand: sharedDemand(group, demand),
    instance,
    invocation,
    timeoutMs: request.timeoutMs,
    merges: false,
    number: 0,
    idHash: 0,
    actionHash: 0,
    inGroup: false,
    parked: false,
    attempt: 0,
    actionKey: request.actionKey,
    invocationQueue: undefined,
    queueNext: undefined,
    queuePrevious: undefined,
    groupNext: undefined,
    groupPrevious: undefined,
    input1: affinityInput(grid.affinity, affinity[0]),
    input2: affinityInput(grid.affinity, affinity[1]),
    input3: affinityInput(grid.affinity, affinity[2]),
    input4: affinityInput(grid.affinity, affinity[3]),
    passedOver: 0,
    acceptedAt: grid.now - ageMs,
    estimateMs: request.estimateMs,
    priority: clampedPriority(request.priority),
    queuedAt: grid.now,
    interactive: request.interactive ?? false,
    maxRetries: request.maxRetries ?? grid.options.retry.maxRetries,
    waiters: undefined,
    faults: 0,
    lostWorkers: NOTHING,
    avoids: NOTHING,
    yields: 0,
  }
  grid.tasks.add(task)
  grid.tasks.startMerging(task)
  grid.taskCounts.pending++
  instance.unfinished++
  invocation.unfinished++
  group.unfinished++
  return task
}

export const clampedPriority = (priority: number): number =>
  Number.isNaN(priority) ? 0 : Math.round(Math.min(PRIORITIES.most, Math.max(PRIORITIES.least, priority)))
