import type { Registry } from 'prom-client'
import type { EngineFigures } from '../../engine/requests/queries.ts'
import type { GridMeter, TaskMeter } from '../../engine/tasks/grid-meter.ts'
import type { FinalState } from '../../model/task-state.ts'
import type { Property } from '../../scheduler/model/events.ts'
import { DurationHistogram } from './durations.ts'
import { expose, type Sample } from './exposition.ts'

/**
 * Clients choose the names of instances and platforms, and each pair has about a dozen histograms. This many pairs have
 * their own metrics; later ones are counted together.
 */
const MOST_PAIRS = 100
const FINAL_STATES = ['completed', 'failed', 'timeout', 'cancelled'] as const satisfies readonly FinalState[]
const MOST_LABEL = 120
const OTHERS = '(others)'

/** The counters of one instance on one platform. */
class PairFigures implements TaskMeter {
  readonly labels: Readonly<Record<'instance' | 'platform', string>>
  readonly counts = { accepted: 0, merged: 0, hit: 0 }
  readonly ends: Record<FinalState, number> = { completed: 0, failed: 0, timeout: 0, cancelled: 0 }
  readonly queueTime = new DurationHistogram()
  readonly runTime = new DurationHistogram()

  constructor(instance: string, platform: string) {
    this.labels = { instance: shortened(instance), platform: shortened(platform) }
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

const shortened = (name: string): string => (name.length > MOST_LABEL ? `${name.slice(0, MOST_LABEL)}…` : name)

/** The counters of the grid, in plain fields that a scrape reads. */
export function gridMeter(registry: Registry): GridMeter {
  const pairs = new Map<string, PairFigures>()
  const others = new PairFigures(OTHERS, OTHERS)
  const refusals = new Map<string, number>()
  const all = (): PairFigures[] => (pairs.size < MOST_PAIRS ? [...pairs.values()] : [...pairs.values(), others])
  exposeCounts(registry, all)
  exposeTimes(registry, all)
  expose(registry, {
    name: 'windlass_tasks_refused_total',
    help: 'Submissions that were not taken in, by why.',
    type: 'counter',
    samples: () => Array.from(refusals, ([why, value]) => ({ labels: { why }, value })),
  })
  return {
    of(instance, properties) {
      const platform = platformOf(properties)
      const key = `${instance}\n${platform}`
      const known = pairs.get(key)
      if (known !== undefined) return known
      if (pairs.size >= MOST_PAIRS) return others
      const made = new PairFigures(instance, platform)
      pairs.set(key, made)
      return made
    },
    refused: (why) => void refusals.set(why, (refusals.get(why) ?? 0) + 1),
  }
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
    accepted: ['windlass_tasks_accepted_total', 'Tasks that were taken in.'],
    merged: ['windlass_tasks_merged_total', 'Operations that joined a task that was under way.'],
    hit: ['windlass_tasks_cached_total', 'Operations that were answered from the cache.'],
  } as const
  for (const [key, [name, help]] of Object.entries(counters) as [keyof typeof counters, readonly [string, string]][]) {
    const samples = () => all().map(({ labels, counts }) => ({ labels, value: counts[key] }))
    expose(registry, { name, help, type: 'counter', samples })
  }
  expose(registry, {
    name: 'windlass_tasks_finished_total',
    help: 'Tasks that ended, by how. A command that exits with 1 has completed; failed is what the grid could not run.',
    type: 'counter',
    samples: () =>
      all().flatMap(({ labels, ends }) =>
        FINAL_STATES.map((state): Sample => ({ labels: { ...labels, state }, value: ends[state] })),
      ),
  })
}

function exposeTimes(registry: Registry, all: () => readonly PairFigures[]): void {
  const histograms = {
    queueTime: ['windlass_task_queue_seconds', 'From being queued until a worker had the lease, for each attempt.'],
    runTime: ['windlass_task_run_seconds', 'From the start of the last attempt until its end.'],
  } as const
  for (const [key, [name, help]] of Object.entries(histograms) as [
    keyof typeof histograms,
    readonly [string, string],
  ][]) {
    const samples = () => all().flatMap((pair) => [...pair[key].samples(name, pair.labels)])
    expose(registry, { name, help, type: 'histogram', samples })
  }
}

/** The grid's current state, read at each scrape. */
export function gridGauges(registry: Registry, figures: () => EngineFigures): void {
  const gauge = (name: string, help: string, samples: () => Iterable<Sample>): void =>
    expose(registry, { name, help, type: 'gauge', samples })
  const one = (name: string, help: string, value: (figures: EngineFigures) => number): void =>
    gauge(name, help, () => [{ labels: {}, value: value(figures()) }])
  one('windlass_queue_length', 'Tasks that wait for a worker or for their next try.', ({ queued }) => queued)
  one('windlass_tasks_active', 'Tasks that a worker has.', ({ active }) => active)
  one('windlass_operations_open', 'Operations that are not over.', ({ operations }) => operations)
  one('windlass_operations_watched', 'Listeners for the state of operations.', ({ watches }) => watches)
  one('windlass_journal_unsettled', 'Tasks whose facts the journal has not taken yet.', ({ unsettled }) => unsettled)
  gauge('windlass_tasks', 'Open tasks, by state.', () => byName(figures().tasks, 'state'))
  gauge('windlass_workers', 'Workers, by state.', () => byName(figures().workers, 'state'))
  gauge('windlass_slots', 'Slots of all workers: all there are, those in use, and tasks staged ahead.', () =>
    byName(figures().slots, 'kind'),
  )
  gauge('windlass_instance_tasks', 'Open tasks of the busiest instances.', () =>
    busiest(figures().byInstance, 'instance'),
  )
  gauge('windlass_platform_tasks', 'Open tasks by what they ask for, where there are most.', () =>
    busiest(figures().bySignature, 'platform'),
  )
}

const byName = (counts: Readonly<Record<string, number>>, label: string): Sample[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }))

/** Only the largest ones, because clients can create any number. */
function busiest(counts: EngineFigures['byInstance'], label: string): Sample[] {
  return [...counts]
    .sort(([, one], [, other]) => other.queued + other.active - (one.queued + one.active))
    .slice(0, MOST_PAIRS)
    .flatMap(([name, { queued, active }]) => [
      { labels: { [label]: shortened(name), state: 'queued' }, value: queued },
      { labels: { [label]: shortened(name), state: 'active' }, value: active },
    ])
}
