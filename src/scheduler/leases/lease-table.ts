import type { Fencing } from '../../model/fencing.ts'
import type { Instant } from '../model/events.ts'
import { HashIndex } from '../queue/hash-index.ts'
import type { QueueDue, QueueState } from '../queue/queue-state.ts'
import { NO_LEASE, type StagedLease, type Task } from '../queue/records.ts'
import type { StagedList } from '../queue/staged-list.ts'
import type { HeldLease, HeldLeases, Worker } from '../workers/records.ts'
import type { TimerSink, WorkerDue } from '../workers/worker.ts'

/** The right of a worker to one attempt at a task. */
export class AttemptLease implements HeldLease, StagedLease {
  // The order of the fields in memory: first those that the start of a staged task needs, last the rarely used ones.
  /** Undefined after the lease has ended. */
  task: Task | undefined = undefined
  /** Staged ahead of a free slot; the worker must not start the task. */
  staged = false
  /** The pool's list of staged tasks that contains it, and its position there. */
  stagedIn: StagedList<StagedLease> | undefined = undefined
  stagedAt = 0
  /** Its neighbours in the worker's list. */
  nextHeld: HeldLease | undefined = undefined
  previousHeld: HeldLease | undefined = undefined
  /** Undefined until the worker has registered again after a restart of the server. */
  worker: Worker | undefined = undefined
  workerId = ''
  epoch = 0
  counter = 0
  grantedAt: Instant = 0
  startedAt: Instant | undefined = undefined
  /** The slot time that was charged when it was granted. */
  charged = 0
  /** Its index in the table of leases. */
  readonly number: number
  renewedAt: Instant = 0
  /** When the lease ends if the worker does not confirm that it stopped the attempt. */
  stopBy: Instant | undefined = undefined

  constructor(number: number) {
    this.number = number
  }

  get fencing(): Fencing {
    return { epoch: this.epoch, counter: this.counter }
  }

  isUnder({ epoch, counter }: Fencing): boolean {
    return this.epoch === epoch && this.counter === counter
  }
}

export type LeaseTerms = Pick<AttemptLease, 'workerId' | 'epoch' | 'counter' | 'grantedAt' | 'staged' | 'charged'>

/**
 * All leases, by number and by fencing number. Ended leases are reused from a free list: there are only as many leases
 * as slots, so they stay close together in memory while a million tasks come and go, and the garbage collector has no
 * new objects to track.
 */
export class LeaseTable {
  readonly #leases: AttemptLease[] = []
  readonly #free: AttemptLease[] = []
  readonly #byFencing = new HashIndex()

  open(task: Task, { workerId, epoch, counter, grantedAt, staged, charged }: LeaseTerms): AttemptLease {
    const lease = this.#free.pop() ?? this.#made()
    lease.task = task
    lease.workerId = workerId
    lease.worker = undefined
    lease.epoch = epoch
    lease.counter = counter
    lease.grantedAt = grantedAt
    lease.renewedAt = grantedAt
    lease.startedAt = undefined
    lease.staged = staged
    lease.charged = charged
    lease.stopBy = undefined
    this.#byFencing.add(fencingHash(lease), lease.number)
    return lease
  }

  /** The fields of a closed lease stay readable until the next lease is opened. */
  close(lease: AttemptLease): void {
    this.#byFencing.remove(fencingHash(lease), lease.number)
    lease.task = undefined
    this.#free.push(lease)
  }

  /** The lease with this number; undefined for `NO_LEASE`. */
  at(number: number): AttemptLease | undefined {
    return number < 0 ? undefined : this.#leases[number]
  }

  /** The current lease with this fencing number. */
  find(fencing: Fencing): AttemptLease | undefined {
    const hash = fencingHash(fencing)
    for (let at = this.#byFencing.seek(hash); at >= 0; at = this.#byFencing.seek(hash, at + 1)) {
      const lease = this.#leases[this.#byFencing.numberAt(at)]
      if (lease?.isUnder(fencing)) return lease
    }
    return undefined
  }

  #made(): AttemptLease {
    const lease = new AttemptLease(this.#leases.length)
    this.#leases.push(lease)
    return lease
  }
}

/** Scatters consecutive counters: in adjacent slots of the index they would form one long row to probe. */
const fencingHash = ({ epoch, counter }: Fencing): number =>
  Math.imul(counter + Math.imul(epoch, 0x85ebca6b), 0x9e3779b1)

export type LeaseDue =
  | { readonly look: 'retry'; readonly task: Task }
  | { readonly look: 'awaited'; readonly workerId: string }

/** The scheduler's state that concerns leases, and the tasks and workers that they connect. */
export interface LeaseState extends QueueState {
  readonly leases: LeaseTable
  /** The counter of the last fencing number. */
  leasesGranted: number
  /** Leases of workers that have not registered again after a restart of the server, by worker id. */
  readonly awaited: Map<string, Set<Task>>
  /** A sum without meaning: it keeps the compiler from removing the reads of `preloadTask`. */
  preloaded: number
  readonly timers: TimerSink<WorkerDue | QueueDue | LeaseDue>
}

type WithLeases = Pick<LeaseState, 'leases'>

export const currentLease = ({ leases }: WithLeases, { leaseNumber }: Task): AttemptLease | undefined =>
  leaseNumber === NO_LEASE ? undefined : leases.at(leaseNumber)

/** The task of a lease in a worker's list. */
export const taskHeld = ({ leases }: WithLeases, { number }: HeldLease): Task | undefined => leases.at(number)?.task

/** The tasks that a worker holds, as a copy: the caller may end their leases. */
export function heldTasks(grid: WithLeases, { firstHeld }: HeldLeases): Task[] {
  const tasks: Task[] = []
  for (let lease = firstHeld; lease !== undefined; lease = lease.nextHeld) {
    const task = taskHeld(grid, lease)
    if (task !== undefined) tasks.push(task)
  }
  return tasks
}

/** When a lease expires: not renewed, past the task's time-out, or not confirmed as stopped. */
export function leaseEndsAt({ options }: LeaseState, { timeoutMs }: Task, lease: AttemptLease): Instant {
  let end = lease.renewedAt + options.leaseMs
  if (lease.stopBy !== undefined && lease.stopBy < end) end = lease.stopBy
  return Math.min(end, timeoutAt(options.timeoutGraceMs, lease, timeoutMs))
}

export const timeoutAt = (graceMs: number, { startedAt }: AttemptLease, timeoutMs: number | undefined): Instant =>
  startedAt === undefined || timeoutMs === undefined ? Number.POSITIVE_INFINITY : startedAt + timeoutMs + graceMs
