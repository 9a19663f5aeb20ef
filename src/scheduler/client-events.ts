import type { GridState } from './grid.ts'
import { finishTask } from './leases/finish-task.ts'
import { currentLease } from './leases/lease-state.ts'
import { amountsProblem, demandedAmounts } from './model/amounts.ts'
import type { RefusalWhy } from './model/effects.ts'
import type { Submit, Waiter } from './model/events.ts'
import { admissionRefusal, rateRefusal } from './queue/admission.ts'
import { dequeue, enqueue } from './queue/enqueue.ts'
import { instanceNamed } from './queue/instances.ts'
import { clampedPriority, newTask } from './queue/new-task.ts'
import { moveTask } from './queue/queue-state.ts'
import type { InstanceState, Task } from './queue/records.ts'
import { addWaiter, removeWaiter } from './queue/waiters.ts'
import { watchWorker } from './workers/worker-watch.ts'

export function submitTask(grid: GridState, event: Submit): void {
  const refuse = (why: RefusalWhy, what: string) => {
    grid.effects.push({ kind: 'refused', task: event.task, why, what })
  }
  if (grid.tasks.has(event.task)) return refuse('duplicate', `the task id ${event.task} is already in use`)
  const problem = amountsProblem(demandedAmounts(event.demands))
  if (problem !== undefined) return refuse('invalid', problem)
  const instance = instanceNamed(grid, event.instance)
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

/** Merges the submission with an identical task: its waiter joins that task, and the more urgent priority counts. */
function merge(
  grid: GridState,
  instance: InstanceState,
  { task: submitted, actionKey, waiter, priority }: Submit,
): boolean {
  const task = actionKey === undefined ? undefined : grid.tasks.identical(instance, actionKey)
  if (task === undefined) return false
  addWaiter(task, waiter)
  grid.effects.push({ kind: 'merged', task: task.id, submitted, waiter })
  const sooner = clampedPriority(priority)
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

export function joinTask(grid: GridState, { task: id, waiter }: { task: string; waiter: Waiter }): void {
  const task = grid.tasks.get(id)
  if (task !== undefined) addWaiter(task, waiter)
}

export function leaveTask(grid: GridState, { task: id, waiter }: { task: string; waiter: Waiter }): void {
  const task = grid.tasks.get(id)
  if (task !== undefined && removeWaiter(task, waiter)) requestCancel(grid, task, 'no client waits for it')
}

/** Cancels a task: without a lease at once, otherwise its worker stops it first, and it can only end as cancelled. */
export function requestCancel(grid: GridState, task: Task, what: string): void {
  const lease = currentLease(grid, task)
  if (task.state === 'stopping') return
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
