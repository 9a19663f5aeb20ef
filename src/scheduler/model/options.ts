import type { InstanceName } from '../../model/instance-name.ts'

/** How a worker is chosen among those that fit and have a slot free, after affinity. */
export const STRATEGIES = ['random', 'round-robin', 'least-loaded', 'weighted', 'two-choices'] as const
export type Strategy = (typeof STRATEGIES)[number]

/** What one instance may have. Left out is unlimited. */
export interface InstanceLimits {
  /** Tasks of it that wait or run. */
  readonly unfinished?: number
  /** New tasks a second, with a second's worth in one go. */
  readonly perSecond?: number
  /** Of the grid, relative to the other instances that want some; 1 unless said. */
  readonly weight?: number
  /** Slots that it can always have: others leave as many free as it lacks of these. */
  readonly reserved?: number
}

/** An instance that can always have so many slots. */
export interface Reserver {
  readonly name: InstanceName
  readonly slots: number
}

export const reserversIn = ({ limitsOf }: Pick<SchedulerOptions, 'limitsOf'>): readonly Reserver[] =>
  Object.entries(limitsOf).flatMap(([name, { reserved = 0 }]) => (reserved > 0 ? [{ name, slots: reserved }] : []))

export interface RetryOptions {
  /** How often a task is tried again after faults of the grid, and after ends that the two last settings name. */
  readonly maxRetries: number
  /** A task that was lost together with more workers than that is taken for the cause. */
  readonly maxLostWorkers: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** Try again what ran out of its own time. */
  readonly onTimeout: boolean
  /** Try again what ended with a result that is no success. */
  readonly onFailure: boolean
}

export interface SchedulerOptions {
  /** Which start of the server this is; part of every fencing number, so it must never come again. */
  readonly epoch: number
  /** When this start was, on the same clock as all events. */
  readonly startedAt: number
  /** Numbers from 0 up to 1, from a seed: the only chance in here. */
  readonly random: () => number
  /** Property names that workers offered before this start. */
  readonly namesOffered: readonly string[]
  /** Refuse a task at once when it asks for a property name that no worker has ever offered. */
  readonly refuseUnknownProperties: boolean

  readonly maxQueued: number
  readonly limits: InstanceLimits
  readonly limitsOf: Readonly<Record<InstanceName, InstanceLimits>>

  readonly leaseMs: number
  /** A worker that was silent for so long is gone. */
  readonly heartbeatTimeoutMs: number
  /** A worker that was silent for so long gets less work. */
  readonly unhealthyAfterMs: number
  /** How long a dropped connection has to come back. */
  readonly disconnectGraceMs: number
  /** How long the workers of before a restart have to come back with their tasks. */
  readonly reconnectGraceMs: number
  /** A lease so young may not have reached its worker: a heartbeat that does not list it does not end it. */
  readonly deliveryGraceMs: number
  /** How long a worker has to confirm that it stopped. */
  readonly stopGraceMs: number
  /** How much later than its own time-out we end a task whose worker does not. */
  readonly timeoutGraceMs: number
  readonly noWorkerGraceMs: number
  /** Another such grace for tasks that ask for a property, by `NAME=VALUE`, or by `NAME` for every value. */
  readonly poolGraceMs: Readonly<Record<string, number>>

  readonly retry: RetryOptions
  /** Waiting so long is worth one step of priority. */
  readonly agingMs: number
  /** A task for which no room falls free in so long has a worker kept for it. */
  readonly reserveAfterMs: number

  readonly strategy: Strategy
  /** What `weighted` makes of a worker's load, infrastructure success rate and latency. */
  readonly weights: { readonly load: number; readonly success: number; readonly latency: number }
  /** A worker that had the inputs before may be fuller than the best other by this part of its slots. */
  readonly affinityLoadSlack: number
  /** The part of its slots that a degraded worker gets; never less than one. */
  readonly degradedShare: number
  /** Whether the load that a worker reports can degrade it. */
  readonly degradeByLoad: boolean
}

export const DEFAULT_OPTIONS = {
  startedAt: 0,
  namesOffered: [],
  refuseUnknownProperties: false,
  maxQueued: 10_000,
  limits: {},
  limitsOf: {},
  leaseMs: 300_000,
  heartbeatTimeoutMs: 120_000,
  unhealthyAfterMs: 60_000,
  disconnectGraceMs: 10_000,
  reconnectGraceMs: 30_000,
  deliveryGraceMs: 10_000,
  stopGraceMs: 30_000,
  timeoutGraceMs: 10_000,
  noWorkerGraceMs: 60_000,
  poolGraceMs: {},
  retry: {
    maxRetries: 3,
    maxLostWorkers: 3,
    firstDelayMs: 1000,
    maxDelayMs: 60_000,
    onTimeout: false,
    onFailure: false,
  },
  agingMs: 30_000,
  reserveAfterMs: 5000,
  strategy: 'weighted',
  weights: { load: 0.5, success: 0.3, latency: 0.2 },
  affinityLoadSlack: 0.5,
  degradedShare: 0.5,
  degradeByLoad: true,
} as const satisfies Partial<SchedulerOptions>
