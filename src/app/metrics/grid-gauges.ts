import type { Registry } from 'prom-client'
import type { EngineFigures } from '../../engine/queries.ts'
import { expose, type Sample } from './exposition.ts'
import { MAX_LABELLED, shortLabel } from './label-limits.ts'

/** The grid's current state, read at each scrape. */
export function gridGauges(registry: Registry, figures: () => EngineFigures): void {
  const gauge = (name: string, help: string, samples: () => Iterable<Sample>): void =>
    expose(registry, { name, help, type: 'gauge', samples })
  const one = (name: string, help: string, value: (figures: EngineFigures) => number): void =>
    gauge(name, help, () => [{ labels: {}, value: value(figures()) }])
  one('windlass_queue_length', 'Tasks that wait for a worker or for a retry.', ({ queued }) => queued)
  one('windlass_tasks_active', 'Tasks assigned to a worker.', ({ active }) => active)
  one('windlass_operations_open', 'Unfinished operations.', ({ operations }) => operations)
  one('windlass_operations_watched', 'Clients that watch operations.', ({ watches }) => watches)
  one(
    'windlass_journal_unsettled',
    'Tasks with facts that are not yet written to the journal.',
    ({ unsettled }) => unsettled,
  )
  gauge('windlass_tasks', 'Unfinished tasks, by state.', () => byName(figures().tasks, 'state'))
  gauge('windlass_workers', 'Workers, by state.', () => byName(figures().workers, 'state'))
  gauge('windlass_slots', 'Slots of all workers by kind: total, in use, and used for prefetched tasks.', () =>
    byName(figures().slots, 'kind'),
  )
  gauge('windlass_instance_tasks', 'Unfinished tasks of the 100 instances with the most.', () =>
    busiest(figures().byInstance, 'instance'),
  )
  gauge('windlass_platform_tasks', 'Unfinished tasks of the 100 required platforms with the most.', () =>
    busiest(figures().bySignature, 'platform'),
  )
}

const byName = (counts: Readonly<Record<string, number>>, label: string): Sample[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }))

/** Reports only the largest ones, because clients can create any number of them. */
function busiest(counts: EngineFigures['byInstance'], label: string): Sample[] {
  return [...counts]
    .sort(([, one], [, other]) => other.queued + other.active - (one.queued + one.active))
    .slice(0, MAX_LABELLED)
    .flatMap(([name, { queued, active }]) => [
      { labels: { [label]: shortLabel(name), state: 'queued' }, value: queued },
      { labels: { [label]: shortLabel(name), state: 'active' }, value: active },
    ])
}
