import type { WorkerState } from '../../model/worker-state.ts'
import type { HeldLeases } from '../leases/held-leases.ts'
import type { UnconfirmedEnds } from '../leases/unconfirmed-ends.ts'
import type { Amounts } from '../model/amounts.ts'
import type { Instant } from '../model/events.ts'
import type { WorkerPool } from '../queue/worker-pool.ts'
import type { Gauges } from './gauges.ts'
import type { Health } from './health.ts'
import type { OpenWorkers, WorkerClass } from './worker-class.ts'

/** A worker that is registered. */
export interface Worker extends HeldLeases, UnconfirmedEnds {
  readonly id: string
  readonly class: WorkerClass
  readonly slots: number
  readonly prefetch: number
  readonly pulls: boolean
  /** How many tasks a pulling worker waits for. */
  asked: number
  readonly total: Amounts
  /** The room that it has left. */
  readonly free: Gauges
  /** Slots taken. */
  used: number
  /** It refused a task for lack of a slot, or one to be staged, and has ended nothing since. */
  refusesTasks: boolean
  refusesStaging: boolean
  state: WorkerState
  /** The same as `free`, by another name. */
  readonly health: Health
  lastHeard: Instant
  /** Since when its connection is gone. */
  disconnectedAt: Instant | undefined
  shutdownWhenEmpty: boolean
  /** The pool that it is kept for. */
  keptFor: WorkerPool | undefined
  /** Whether it is to be offered something when the event is over. */
  freed: boolean
  /** When it was last given a task, by the count of leases: for taking turns. */
  turn: number
  /** When it will be looked at. */
  lookAt: Instant
  /** The list of open workers that it is in. */
  openIn: OpenWorkers | undefined
  /** Its places in the lists of its class; −1 when it is in none. */
  classAt: number
  openAt: number
  stagerAt: number
}

/** Still registered; or it is gone, or came again and is another one. */
export const isRegistered = ({ classAt }: Worker): boolean => classAt >= 0

/** There, connected, and neither leaving nor yet to come. */
export const takesTasks = ({ state, disconnectedAt }: Worker): boolean =>
  disconnectedAt === undefined && (state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED')

/** Slots that are not known to be free. */
export const takenSlots = ({ used, unconfirmedSlots }: Worker): number => used + unconfirmedSlots

export const loadOf = ({ used, slots, health }: Worker): number => Math.max(used / slots, health.load)

/** Halves and tenths of a processor must come out even again. */
const exact = (amount: number): number => Math.round(amount * 1e6) / 1e6

export function takeAmounts({ free }: Worker, { cpu, memory, disk }: Amounts): void {
  free.cpu = exact(free.cpu - cpu)
  free.memory -= memory
  free.disk -= disk
}

export function returnAmounts({ free }: Worker, { cpu, memory, disk }: Amounts): void {
  free.cpu = exact(free.cpu + cpu)
  free.memory += memory
  free.disk += disk
}

type Place = 'classAt' | 'openAt' | 'stagerAt'

/** Puts the worker into one of the lists of its class, or takes it out; the last one takes its place. */
export function setListed(list: Worker[], worker: Worker, { place, listed }: { place: Place; listed: boolean }): void {
  const at = worker[place]
  if (listed === at >= 0) return
  if (listed) {
    worker[place] = list.push(worker) - 1
    return
  }
  const last = list.pop() as Worker
  if (last !== worker) {
    list[at] = last
    last[place] = at
  }
  worker[place] = -1
}
