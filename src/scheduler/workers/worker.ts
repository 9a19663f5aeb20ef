import type { WorkerState } from '../../model/worker-state.ts'
import type { Amounts } from '../model/amounts.ts'
import type { Instant } from '../model/events.ts'
import type { Gauges } from './gauges.ts'
import type { Health } from './health.ts'
import type { HeldLeases } from './held-leases.ts'

/** A registered worker. */
export interface Worker extends HeldLeases, UnconfirmedEnds {
  readonly id: string
  readonly class: WorkerClass
  readonly slots: number
  readonly prefetch: number
  readonly pulls: boolean
  /** The number of tasks that a pulling worker has requested. */
  asked: number
  readonly total: Amounts
  /** The amounts that no lease has reserved. */
  readonly free: Gauges
  /** Slots in use. */
  used: number
  /** The worker rejected a task for lack of a slot (or of staging space), and has not ended an attempt since. */
  refusesTasks: boolean
  refusesStaging: boolean
  state: WorkerState
  /** The same object as `free`. */
  readonly health: Health
  lastHeard: Instant
  /** When its connection was lost; undefined while it is connected. */
  disconnectedAt: Instant | undefined
  shutdownWhenEmpty: boolean
  /** Reserved for the next task of one pool; it accepts no other task. */
  kept: boolean
  /** Whether it is listed in `freed`. */
  freed: boolean
  /** The number of the last lease that it got, for the round-robin strategy. */
  turn: number
  /** When its timer is due. */
  lookAt: Instant
  /** The list of open workers that contains it. */
  openIn: OpenWorkers | undefined
  /** Its positions in the lists of its class; −1 when it is not in the list. */
  classAt: number
  openAt: number
  stagerAt: number
}

/**
 * Workers that offer the same properties, and the same amounts to within a power of two. All of them can serve the same
 * tasks. Ten thousand workers typically form a handful of classes.
 */
export interface WorkerClass {
  readonly number: number
  readonly key: string
  readonly offers: ReadonlyMap<string, ReadonlySet<string>>
  readonly preemptible: boolean
  /** The minimum that each of its workers has. */
  readonly floor: Amounts
  readonly workers: Worker[]
  /** The number of workers that accept tasks now or when a slot becomes free. */
  live: number
  /** Workers with a free slot, by the bucket of their free amounts. */
  readonly openBySpace: Map<number, OpenWorkers>
  /** Full workers that can stage a task ahead. */
  readonly stagers: Worker[]
  /** The distinct total amounts of its workers, with the number of workers that have them. */
  readonly shapes: Map<string, { readonly total: Amounts; count: number }>
  /** The usage of the instance that it served last. An instance that was idle starts with this usage. */
  clock: number
}

/** Open workers with the same free amounts, to within a power of two. */
export interface OpenWorkers {
  /** The minimum that each of them has free. */
  readonly floor: Amounts
  readonly workers: Worker[]
}

/** An attempt without a lease that may still run on its worker. */
export interface Unconfirmed {
  readonly staged: boolean
  /** The scheduler assumes that the attempt has ended if the worker does not report or list it until this time. */
  until: Instant
}

/** Attempts whose lease the server ended and whose end the worker has not confirmed; see `leases/unconfirmed-ends.ts`. */
export interface UnconfirmedEnds {
  readonly unconfirmed: Map<string, Unconfirmed>
  /** How many of them use a slot, and how many a staging place. */
  unconfirmedSlots: number
  unconfirmedStaged: number
}

export const noUnconfirmed = (): UnconfirmedEnds => ({
  unconfirmed: new Map(),
  unconfirmedSlots: 0,
  unconfirmedStaged: 0,
})

/** False when the worker is gone, or has registered again as a new object. */
export const isRegistered = ({ classAt }: Worker): boolean => classAt >= 0

/** Connected, admitted, and not draining. */
export const takesTasks = ({ state, disconnectedAt }: Worker): boolean =>
  disconnectedAt === undefined && (state === 'ONLINE' || state === 'BUSY' || state === 'DEGRADED')

/** Slots in use, including those of attempts whose end is not confirmed. */
export const takenSlots = ({ used, unconfirmedSlots }: Worker): number => used + unconfirmedSlots

export const loadOf = ({ used, slots, health }: Worker): number => Math.max(used / slots, health.load)

/** Rounds, so that adding and subtracting tenths of a processor returns to the same number. */
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

/** Adds the worker to a list of its class, or removes it; the last worker of the list moves into the gap. */
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
