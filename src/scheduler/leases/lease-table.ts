import type { Fencing } from '../../model/fencing.ts'
import { HashIndex } from '../queue/hash-index.ts'
import type { Task } from '../queue/records.ts'
import { AttemptLease } from './lease.ts'

export type LeaseTerms = Pick<AttemptLease, 'workerId' | 'epoch' | 'counter' | 'grantedAt' | 'staged' | 'charged'>

/**
 * All leases, by number and by fencing number. Ended leases are reused from a free list: there are only as many leases as
 * slots, so they stay close together in memory while a million tasks come and go, and the garbage collector has no new
 * objects to track.
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
