import type { GridState } from './grid.ts'
import { instanceOf, moveTask } from './grid.ts'
import { finishTask } from './leases/finish-task.ts'
import { amountsProblem, demandedAmounts } from './model/amounts.ts'
import type { RefusalWhy } from './model/effects.ts'
import type { Submit, TaskRequest, Waiter } from './model/events.ts'
import { admissionRefusal, rateRefusal } from './queue/admission.ts'
import { dequeue, enqueue } from './queue/enqueue.ts'
import { groupFor, sharedDemand } from './queue/matchmaking.ts'
import type { Task } from './queue/task.ts'
import { addWaiter, removeWaiter } from './queue/waiters.ts'
import { type InstanceState, openInvocation } from './shares/shares.ts'
import { affinityInput } from './workers/affinity.ts'
import { watchWorker } from './workers/worker-watch.ts'

const PRIORITIES = { least: -100, most: 100 }

export function submitTask(grid: GridState, event: Submit): void {
  const refuse = (why: RefusalWhy, what: string) => {
    grid.effects.push({ kind: 'refused', task: event.task, why, what })
  }
  if (grid.tasks.has(event.task)) return refuse('duplicate', `a task with the id ${event.task} is there already`)
  const problem = amountsProblem(demandedAmounts(event.demands))
  if (problem !== undefined) return refuse('invalid', problem)
  const instance = instanceOf(grid, event.instance)
  const tooMany = rateRefusal(grid, instance)
  if (tooMany === undefined && merge(grid, instance, event)) return
  const refused = tooMany ?? admissionRefusal(grid, instance, event)
  if (refused !== undefined) {
    grid.effects.push({ kind: 'refused', task: event.task, ...refused })
    return
  }
  const task = newTask(grid, event, { instance, ageMs: 0 })
  addWaiter(task, event.waiter)
  moveTask(grid, task, 'enqueue')
  grid.effects.push({ kind: 'queued', task: task.id, attempt: 1 })
  grid.toPlace.push(task)
}

/** An identical task is there: this one's waiter joins it, and the more urgent of the two counts. */
function merge(
  grid: GridState,
  instance: InstanceState,
  { task: submitted, actionKey, waiter, priority }: Submit,
): boolean {
  const task = actionKey === undefined ? undefined : grid.tasks.identical(instance, actionKey)
  if (task === undefined) return false
  addWaiter(task, waiter)
  grid.effects.push({ kind: 'merged', task: task.id, submitted, waiter })
  const sooner = heldPriority(priority)
  if (sooner < task.priority) raise(grid, task, sooner)
  return true
}

function raise(grid: GridState, task: Task, priority: number): void {
  const waits = task.state === 'queued'
  if (waits) dequeue(grid, task)
  task.priority = priority
  if (waits) enqueue(grid, task, false)
  grid.effects.push({ kind: 'raised', task: task.id, priority })
}

/** Made known, but not yet queued. */
export function newTask(
  grid: GridState,
  request: TaskRequest,
  { instance, ageMs }: { instance: InstanceState; ageMs: number },
): Task {
  const demand = demandedAmounts(request.demands)
  const { properties, refusesPreemptible = false, affinity = NOTHING } = request
  const group = groupFor(grid, { properties, refusesPreemptible, demand })
  const invocation = openInvocation(instance, request.invocation)
  const task: Task = {
    // In this order they lie in memory: first what every decision reads or writes, last what hardly any does.
    id: request.task,
    state: 'pending',
    lease: undefined,
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
    priority: heldPriority(request.priority),
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

const NOTHING: readonly string[] = []

const heldPriority = (priority: number): number =>
  Number.isNaN(priority) ? 0 : Math.round(Math.min(PRIORITIES.most, Math.max(PRIORITIES.least, priority)))

export function joinTask(grid: GridState, { task: id, waiter }: { task: string; waiter: Waiter }): void {
  const task = grid.tasks.get(id)
  if (task !== undefined) addWaiter(task, waiter)
}

export function leaveTask(grid: GridState, { task: id, waiter }: { task: string; waiter: Waiter }): void {
  const task = grid.tasks.get(id)
  if (task !== undefined && removeWaiter(task, waiter)) cancelTask(grid, task, 'nobody waits for it any more')
}

/** What has not gone out ends at once; what has is stopped first, and from then on can only end as cancelled. */
export function cancelTask(grid: GridState, task: Task, what: string): void {
  const { lease, state } = task
  if (state === 'stopping') return
  if (lease === undefined) {
    finishTask(grid, task, { move: 'cancel', why: 'cancelled', what })
    return
  }
  moveTask(grid, task, 'cancel')
  grid.tasks.stopMerging(task)
  lease.stopBy = grid.now + grid.options.stopGraceMs
  grid.effects.push({ kind: 'stopping', task: task.id })
  grid.effects.push({
    kind: 'stop',
    task: task.id,
    worker: lease.workerId,
    fencing: lease.fencing,
    why: 'cancelled',
  })
  if (lease.worker !== undefined) watchWorker(grid, lease.worker, lease.stopBy)
}
