import type { Fencing } from '../../model/fencing.ts'
import type { Instant } from '../model/events.ts'
import type { StagedLease, Task } from '../queue/records.ts'
import type { StagedList } from '../queue/staged-list.ts'
import type { HeldLease } from '../workers/held-leases.ts'
import type { Worker } from '../workers/worker.ts'

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
  /** When it ends if the worker does not confirm that it stopped the attempt. */
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
