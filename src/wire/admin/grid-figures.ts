import { invalid } from '../../base/fault.ts'
import type { GridFigures } from '../../model/grid-view.ts'
import { TASK_STATES } from '../../model/task-state.ts'
import { WORKER_STATES } from '../../model/worker-state.ts'
import * as proto from '../gen/windlass/grid/v1/grid.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** The messages of windlass.grid.v1.GridAdmin that are about the grid as a whole. */
const USUAL_INTERVAL_MS = 1000
const SHORTEST_INTERVAL_MS = 500
const LONGEST_INTERVAL_MS = 3_600_000

export const watchGridToProto = (intervalMs: number): Uint8Array =>
  proto.WatchGridRequest.encode({ intervalMs }).finish()

/** Interval bounds, in milliseconds. */
export function watchGridFromProto(bytes: Uint8Array): number {
  const named = { name: 'WatchGridRequest', shape: { 1: 'number' } } as const
  const { intervalMs } = decodeWellFormed(proto.WatchGridRequest, bytes, named)
  if (intervalMs < 0) throw invalid('interval_ms is negative')
  return Math.min(LONGEST_INTERVAL_MS, Math.max(SHORTEST_INTERVAL_MS, intervalMs || USUAL_INTERVAL_MS))
}

export const gridFiguresToProto = (figures: GridFigures): Uint8Array =>
  proto.WatchGridResponse.encode({
    ...figures,
    tasks: counted(figures.tasks, TASK_STATES),
    workers: counted(figures.workers, WORKER_STATES),
  }).finish()

const COUNTS: Shape = { 1: 'text', 2: 'number' }
const FIGURES: Shape = {
  ...Object.fromEntries([1, 2, 3, 6, 7, 8, 9].map((field) => [field, 'number' as const])),
  ...{ 4: COUNTS, 5: COUNTS, 10: { 1: 'text', 2: 'number', 3: 'number' }, 11: 'text' },
}

export function gridFiguresFromProto(bytes: Uint8Array): GridFigures {
  const from = decodeWellFormed(proto.WatchGridResponse, bytes, { name: 'WatchGridResponse', shape: FIGURES })
  return { ...from, tasks: counted(from.tasks, TASK_STATES), workers: counted(from.workers, WORKER_STATES) }
}

/** Leaves out states with a count of 0, and states that this version does not know. */
function counted<State extends string>(
  counts: Readonly<Record<string, number | undefined>>,
  states: readonly State[],
): Record<string, number> & Partial<Record<State, number>> {
  const found: Record<string, number> = {}
  for (const state of states) {
    const count = Object.hasOwn(counts, state) ? counts[state] : undefined
    if (count) found[state] = count
  }
  return found as Record<string, number> & Partial<Record<State, number>>
}
