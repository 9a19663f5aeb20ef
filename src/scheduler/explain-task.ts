import type { GridState } from './grid.ts'
import { type AttemptLease, currentLease } from './leases/lease-table.ts'
import type { Instant, Property } from './model/events.ts'
import { type Amounts, describeAmounts, fitsWithin } from './model/requirements.ts'
import { noWorkerDeadline } from './queue/no-worker-grace.ts'
import { rankOf } from './queue/priority-level.ts'
import type { Task } from './queue/records.ts'
import type { Worker, WorkerClass } from './workers/records.ts'
import { takesTasks } from './workers/worker.ts'
import { offersProperty } from './workers/worker-class.ts'

/** Explains where the task is and what it waits for. */
export function explainTask(grid: GridState, id: string, now: Instant): string[] {
  const task = grid.tasks.get(id)
  if (task === undefined) return []
  const lease = currentLease(grid, task)
  const reasons = lease === undefined ? waiting(grid, task, now) : onWorker(grid, { state: task.state, lease }, now)
  if (task.faults > 0) reasons.push(`${count(task.faults, 'earlier attempt')} failed by faults of the grid`)
  if (task.lostWorkers.length > 0) reasons.push(`lost with ${task.lostWorkers.join(', ')}`)
  return reasons
}

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? '' : 's'}`
const seconds = (ms: number): string => `${Math.max(0, Math.ceil(ms / 1000))} s`

type Leased = Pick<Task, 'state'> & { readonly lease: AttemptLease }

function onWorker(grid: GridState, { lease, state }: Leased, now: Instant): string[] {
  const { workerId, worker, startedAt, grantedAt, staged } = lease
  if (worker === undefined) {
    const left = lease.renewedAt + grid.options.reconnectGraceMs - now
    return [`${state}: worker ${workerId} has ${seconds(left)} to reconnect after the restart`]
  }
  if (state === 'stopping') return [`stopping: waiting for worker ${workerId} to confirm`]
  if (staged) return [`assigned: worker ${workerId} stages its inputs until a slot is free`]
  if (worker.disconnectedAt !== undefined)
    return [`${state}: worker ${workerId} lost its connection ${seconds(now - worker.disconnectedAt)} ago`]
  return [
    startedAt === undefined
      ? `assigned: worker ${workerId} has it for ${seconds(now - grantedAt)} and has not started it`
      : `running: on worker ${workerId} for ${seconds(now - startedAt)}`,
  ]
}

function waiting(grid: GridState, task: Task, now: Instant): string[] {
  if (task.state === 'retrying') return [`retrying: next attempt in ${seconds(task.queuedAt - now)}`]
  const fails = noWorkerDeadline(grid, task)
  if (fails !== undefined) return [`waiting: ${unmatched(grid, task)}; fails in ${seconds(fails - now)}`]
  const reasons = [`waiting: ${fleetInWords(task)}; ${before(task)}`]
  const { kept } = task.group.pool
  if (kept !== undefined) reasons.push(`worker ${kept.id} is kept free for the next task of this size`)
  return reasons
}

function fleetInWords({ group, demand }: Task): string {
  const workers = group.pool.classes.flatMap((one) => one.workers).filter((one) => fitsWithin(demand, one.total))
  const there = workers.filter(takesTasks)
  const verb = there.length === 1 ? 'fits' : 'fit'
  const full = there.filter(isFull).length
  const narrow = there.length - full
  const parts: string[] = []
  if (full > 0) parts.push(full === there.length ? 'all busy' : `${full} busy`)
  if (narrow > 0) parts.push(`${narrow} without enough free resources`)
  return [`${count(there.length, 'worker')} ${verb}`, ...parts].join(', ')
}

const isFull = ({ used, slots, pulls, asked }: Worker): boolean => used >= slots || (pulls && asked === 0)

/**
 * Describes the tasks of the same instance that go first, and the other invocations and instances that share the
 * workers.
 */
function before(task: Task): string {
  const { invocationQueue } = task
  if (invocationQueue === undefined) return 'about to be placed'
  const { level } = invocationQueue
  let ahead = 0
  for (let one = task.queuePrevious; one !== undefined; one = one.queuePrevious) ahead++
  const { instanceQueue, order } = level
  const rank = rankOf(level)
  for (const other of instanceQueue.levels) if (other !== level && rankOf(other) < rank) ahead += other.queued
  const invocations = order.size - 1
  const sharing = invocations > 0 ? `, alternating with ${count(invocations, 'other invocation')}` : ''
  const others = instanceQueue.pool.instanceQueues.size - 1
  const instances = others > 0 ? `; ${count(others, 'other instance')} wait${others === 1 ? 's' : ''} too` : ''
  if (ahead === 0) return `next of its invocation${sharing}${instances}`
  return `${count(ahead, 'task')} of its instance ${ahead === 1 ? 'is' : 'are'} ahead of it${sharing}${instances}`
}

/** Explains which requirement of the task no worker meets. */
export function unmatched(grid: GridState, { group, demand }: Task): string {
  const live = [...grid.classes.values()].filter((one) => one.live > 0)
  if (live.length === 0) return noWorker(group.properties)
  const alone = group.properties.find((property) => !live.some((one) => offersProperty(one, property)))
  if (alone !== undefined) return `no worker offers ${text(alone)}`
  const fitting = live.filter((one) => group.properties.every((property) => offersProperty(one, property)))
  if (fitting.length === 0) return `no worker offers all of ${group.properties.map(text).join(', ')}`
  const lasting = group.refusesPreemptible ? fitting.filter((one) => !one.preemptible) : fitting
  if (lasting.length === 0) return 'every worker that fits is preemptible, which the task refuses'
  return `no worker is large enough: the task needs ${describeAmounts(demand)}, ${largest(lasting, demand)}`
}

const noWorker = (needed: readonly Property[]): string =>
  needed.length === 0
    ? 'no worker is registered'
    : `no worker is registered; the task needs ${needed.map(text).join(', ')}`

const text = ({ name, value }: Property): string => `${name}=${value}`

function largest(classes: readonly WorkerClass[], demand: Amounts): string {
  const totals = classes.flatMap((one) => [...one.shapes.values()].map(({ total }) => total))
  for (const name of ['cpu', 'memory', 'disk'] as const) {
    const most = Math.max(...totals.map((total) => total[name]))
    if (most < demand[name]) {
      const has = describeAmounts({ cpu: 0, memory: 0, disk: 0, [name]: most })
      return has === '' ? `no worker has any ${name}` : `the largest worker has ${has}`
    }
  }
  return 'and no worker has all of these'
}
