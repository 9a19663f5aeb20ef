import type { Registry } from 'prom-client'
import type { TaskTally } from '../../doors/grpc/grid-admin/options.ts'
import type { GridMeter, TaskMeter } from '../../engine/tasks/grid-meter.ts'
import type { FinalState } from '../../model/task-state.ts'
import type { Property } from '../../scheduler/model/events.ts'
import { DurationHistogram } from './durations.ts'
import { expose, type Sample } from './exposition.ts'
import { MAX_LABELLED, shortLabel } from './label-limits.ts'

const FINAL_STATES = ['completed', 'failed', 'timeout', 'cancelled'] as const satisfies readonly FinalState[]
const OTHERS = '(others)'

/** The counters of one instance on one platform. */
class PairFigures implements TaskMeter {
  readonly labels: Readonly<Record<'instance' | 'platform', string>>
  readonly counts = { accepted: 0, merged: 0, hit: 0 }
  readonly ends: Record<FinalState, number> = { completed: 0, failed: 0, timeout: 0, cancelled: 0 }
  readonly queueTime = new DurationHistogram()
  readonly runTime = new DurationHistogram()

  constructor(instance: string, platform: string) {
    this.labels = { instance: shortLabel(instance), platform: shortLabel(platform) }
  }

  accepted(): void {
    this.counts.accepted++
  }

  merged(): void {
    this.counts.merged++
  }

  hit(): void {
    this.counts.hit++
  }

  waited(ms: number): void {
    this.queueTime.add(ms)
  }

  ended(state: FinalState, ranMs: number | undefined): void {
    this.ends[state]++
    if (ranMs !== undefined) this.runTime.add(ranMs)
  }
}

export interface CountingMeter extends GridMeter {
  tally(): TaskTally
}

/** The counters of the grid, in plain fields that a scrape reads. */
export function gridMeter(registry: Registry): CountingMeter {
  const pairs = new Map<string, PairFigures>()
  const others = new PairFigures(OTHERS, OTHERS)
  const refusals = new Map<string, number>()
  const all = (): PairFigures[] => (pairs.size < MAX_LABELLED ? [...pairs.values()] : [...pairs.values(), others])
  exposeCounts(registry, all)
  exposeTimes(registry, all)
  expose(registry, {
    name: 'windlass_tasks_refused_total',
    help: 'Rejected submissions, by reason.',
    type: 'counter',
    samples: () => Array.from(refusals, ([why, value]) => ({ labels: { why }, value })),
  })
  return {
    of(instance, properties) {
      const platform = platformOf(properties)
      const key = `${instance}\n${platform}`
      const known = pairs.get(key)
      if (known !== undefined) return known
      if (pairs.size >= MAX_LABELLED) return others
      const made = new PairFigures(instance, platform)
      pairs.set(key, made)
      return made
    },
    tally: () => tallyOf([...pairs.values(), others]),
    refused: (why) => void refusals.set(why, (refusals.get(why) ?? 0) + 1),
  }
}

function tallyOf(figures: readonly PairFigures[]): TaskTally {
  const tally = { accepted: 0, ended: 0 }
  for (const { counts, ends } of figures) {
    tally.accepted += counts.accepted + counts.hit
    tally.ended += counts.hit
    for (const state of FINAL_STATES) tally.ended += ends[state]
  }
  return tally
}

/** A text that does not depend on the order: `OSFamily=linux, arch=x86`. */
function platformOf(properties: readonly Property[]): string {
  if (properties.length === 0) return 'any'
  return properties
    .map(({ name, value }) => `${name}=${value}`)
    .sort()
    .join(', ')
}

function exposeCounts(registry: Registry, all: () => readonly PairFigures[]): void {
  const counters = {
    accepted: ['windlass_tasks_accepted_total', 'Accepted tasks.'],
    merged: ['windlass_tasks_merged_total', 'Operations that joined a task that was already queued or running.'],
    hit: ['windlass_tasks_cached_total', 'Operations answered from the action cache.'],
  } as const
  for (const [key, [name, help]] of Object.entries(counters) as [keyof typeof counters, readonly [string, string]][]) {
    const samples = () => all().map(({ labels, counts }) => ({ labels, value: counts[key] }))
    expose(registry, { name, help, type: 'counter', samples })
  }
  expose(registry, {
    name: 'windlass_tasks_finished_total',
    help: 'Finished tasks, by final state. A command that exits with 1 is completed; failed means that the grid could not run it.',
    type: 'counter',
    samples: () =>
      all().flatMap(({ labels, ends }) =>
        FINAL_STATES.map((state): Sample => ({ labels: { ...labels, state }, value: ends[state] })),
      ),
  })
}

function exposeTimes(registry: Registry, all: () => readonly PairFigures[]): void {
  const histograms = {
    queueTime: ['windlass_task_queue_seconds', 'Seconds from queueing to the lease of a worker, for each attempt.'],
    runTime: ['windlass_task_run_seconds', 'Seconds from the start to the end of the last attempt.'],
  } as const
  for (const [key, [name, help]] of Object.entries(histograms) as [
    keyof typeof histograms,
    readonly [string, string],
  ][]) {
    const samples = () => all().flatMap((pair) => [...pair[key].samples(name, pair.labels)])
    expose(registry, { name, help, type: 'histogram', samples })
  }
}
