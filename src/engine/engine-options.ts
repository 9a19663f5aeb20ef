import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { InstanceName } from '../model/instance-name.ts'
import type { SchedulerOptions } from '../scheduler/model/options.ts'
import type { Journal } from '../storage/journal/journal.ts'
import type { GridMeter } from './tasks/grid-meter.ts'
import type { BlobRoots, ResultCache } from './tasks/ports.ts'

export interface EngineOptions {
  /** A journal that is not recovered yet. The code that opened it closes it, after it closes the engine. */
  readonly journal: Journal
  readonly clock: Clock
  /** Returns names for operations that a client cannot guess. Ascending names cost the journal least. */
  readonly newId: () => string
  /** Returns numbers from 0 to below 1, for the choice among workers. */
  readonly random: () => number
  /** The instance of tasks whose request names none; default ''. */
  readonly unnamedInstance?: InstanceName
  readonly results?: ResultCache
  readonly roots?: BlobRoots
  readonly meter?: GridMeter
  readonly log?: Log
  readonly scheduler?: Partial<Omit<SchedulerOptions, 'epoch' | 'startedAt' | 'random'>>
  /** How long an operation that needs a watcher may be without one. */
  readonly noWaiterGraceMs?: number
  /** How long the journal keeps finished tasks. */
  readonly retentionMs?: number
  readonly limits?: Partial<EngineLimits>
}

/** Limits for every caller. */
export interface EngineLimits {
  readonly specBytes: number
  readonly resultBytes: number
  readonly noteBytes: number
  readonly nameLength: number
  readonly properties: number
  readonly workers: number
  /** Bytes of live output that are kept for each task. */
  readonly outputBytes: number
}

export const DEFAULTS = {
  noWaiterGraceMs: 60_000,
  retentionMs: 24 * 60 * 60 * 1000,
  limits: {
    specBytes: 8 * 1024 * 1024,
    resultBytes: 16 * 1024 * 1024,
    noteBytes: 64 * 1024,
    nameLength: 1024,
    properties: 256,
    workers: 20_000,
    outputBytes: 256 * 1024,
  },
} as const satisfies Partial<EngineOptions> & { limits: EngineLimits }
