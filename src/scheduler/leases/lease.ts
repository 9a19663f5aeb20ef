import type { Fencing } from '../../model/fencing.ts'
import type { Instant } from '../model/events.ts'
import { HashIndex } from '../queue/hash-index.ts'
import type { StagedList } from '../queue/staged-list.ts'
import type { Task } from '../queue/task.ts'
import type { Worker } from '../workers/worker.ts'

/** A worker's right to one attempt. */
export class AttemptLease {
  // In this order they lie in memory: first what is looked at when a staged one begins, last what no decision needs.
  /** Undefined when it has ended. */
  task: Task | undefined = undefined
  /** Staged ahead of a free slot, and not to be started. */
  staged = false
  /** The list of what is staged that it is in, and its place there. */
  stagedIn: StagedList | undefined = undefined
  stagedAt = 0
  /** Its neighbours among those that the worker holds. */
  nextHeld: AttemptLease | undefined = undefined
  previousHeld: AttemptLease | undefined = undefined
  /** Undefined while the worker of before a restart has not come back. */
  worker: Worker | undefined = undefined
  workerId = ''
  epoch = 0
  counter = 0
  grantedAt: Instant = 0
  startedAt: Instant | undefined = undefined
  /** Slot time that was charged for it when it was granted. */
  charged = 0
  /** Its place in the stock. */
  readonly number: number
  renewedAt: Instant = 0
  /** When it ends if the worker does not confirm that it stopped. */
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
 * All leases, found by their fencing numbers. Those that ended are granted again as others: there are only as many as
 * slots, so they stay together in memory while a million tasks come and go, and what a worker reports is found through
 * them; and a task's pointer to one is never to something new, which the collector would have to note.
 */
export class LeaseTable {
  readonly #leases: AttemptLease[] = []
  readonly #spare: AttemptLease[] = []
  readonly #byFencing = new HashIndex()

  take(task: Task, { workerId, epoch, counter, grantedAt, staged, charged }: LeaseTerms): AttemptLease {
    const lease = this.#spare.pop() ?? this.#made()
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

  /** It may still be read in the same event, until the next is granted. */
  giveBack(lease: AttemptLease): void {
    this.#byFencing.remove(fencingHash(lease), lease.number)
    lease.task = undefined
    this.#spare.push(lease)
  }

  /** The lease that a task has under this number, if it still has it. */
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

/** Counters come one after the other; side by side in the index they would be one long row, to be walked at every end. */
const fencingHash = ({ epoch, counter }: Fencing): number =>
  Math.imul(counter + Math.imul(epoch, 0x85ebca6b), 0x9e3779b1)
