import type { InstanceName } from '../../model/instance-name.ts'

/** The strategy that chooses a worker among those that fit and have a free slot. Affinity takes precedence. */
export const STRATEGIES = ['random', 'round-robin', 'least-loaded', 'weighted', 'two-choices'] as const
export type Strategy = (typeof STRATEGIES)[number]

/** The limits of one instance. An absent limit is unlimited. */
export interface InstanceLimits {
  /** Tasks that wait or run. */
  readonly unfinished?: number
  /** New tasks per second; the tasks of one second may arrive at once. */
  readonly perSecond?: number
  /** The share of the grid relative to other instances with waiting tasks (default 1). */
  readonly weight?: number
  /** Slots that stay free for this instance while it uses fewer. */
  readonly reserved?: number
}

/** An instance with reserved slots. */
export interface Reserver {
  readonly name: InstanceName
  readonly slots: number
}

export const reserversIn = ({ limitsOf }: Pick<SchedulerOptions, 'limitsOf'>): readonly Reserver[] =>
  Object.entries(limitsOf).flatMap(([name, { reserved = 0 }]) => (reserved > 0 ? [{ name, slots: reserved }] : []))

export interface RetryOptions {
  /** The maximum number of retries after grid faults, and after the ends that `onTimeout` and `onFailure` name. */
  readonly maxRetries: number
  /** A task that was lost with more workers than this fails: it probably caused the losses. */
  readonly maxLostWorkers: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** Retry a task after its time-out. */
  readonly onTimeout: boolean
  /** Retry a task after a result that is not a success. */
  readonly onFailure: boolean
}

export interface SchedulerOptions {
  /** The number of this start of the server. It is part of every fencing number, so it must be unique. */
  readonly epoch: number
  /** When the server started, on the clock of the events. */
  readonly startedAt: number
  /** Random numbers in [0, 1) from a seed: the only source of randomness. */
  readonly random: () => number
  /** Property names that workers offered before this start. */
  readonly namesOffered: readonly string[]
  /** Refuse a task with a property name that no worker has ever offered. */
  readonly refuseUnknownProperties: boolean

  readonly maxQueued: number
  readonly limits: InstanceLimits
  readonly limitsOf: Readonly<Record<InstanceName, InstanceLimits>>

  readonly leaseMs: number
  /** A worker that sends nothing for this long is lost. */
  readonly heartbeatTimeoutMs: number
  /** A worker that sends nothing for this long is degraded. */
  readonly unhealthyAfterMs: number
  /** The time that a worker has to reconnect after a lost connection. */
  readonly disconnectGraceMs: number
  /** The time that workers have to register again after a restart of the server. */
  readonly reconnectGraceMs: number
  /** A younger lease may not have reached its worker yet: a heartbeat that does not list it does not end it. */
  readonly deliveryGraceMs: number
  /** The time that a worker has to confirm that it stopped an attempt. */
  readonly stopGraceMs: number
  /** How long after a task's time-out its lease ends if the worker does not report. */
  readonly timeoutGraceMs: number
  /** How long a task waits for a worker that fits before it fails. */
  readonly noWorkerGraceMs: number
  /** Replaces `noWorkerGraceMs` for tasks with a property, by `NAME=VALUE`, or by `NAME` for every value. */
  readonly poolGraceMs: Readonly<Record<string, number>>

  readonly retry: RetryOptions
  /** Waiting this long is worth one step of priority. */
  readonly agingMs: number
  /** A worker is kept for a task that finds no space for this long. */
  readonly reserveAfterMs: number

  readonly strategy: Strategy
  /** The weights of the strategy `weighted`: load, success rate of the infrastructure, latency. */
  readonly weights: { readonly load: number; readonly success: number; readonly latency: number }
  /** By how much the load of a worker with cached inputs may exceed that of the best other worker. */
  readonly affinityLoadSlack: number
  /** The share of its slots that a degraded worker gets; at least one slot. */
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
