import type { InstanceName } from '../model/instance-name.ts'
import type { TaskState } from '../model/task-state.ts'
import type { WorkerState } from '../model/worker-state.ts'
import type { GridState } from './grid.ts'
import { describeRequirements } from './model/requirements.ts'

export interface Count {
  /** Tasks that wait for a slot. */
  readonly queued: number
  /** Tasks that are assigned, running or stopping. */
  readonly active: number
}

/** Counts for metrics and the console. Cheap enough for every scrape, not for every event. */
export interface Figures extends Count {
  readonly tasks: Readonly<Record<TaskState, number>>
  readonly workers: Readonly<Record<WorkerState, number>>
  readonly slots: { readonly total: number; readonly used: number; readonly staged: number }
  readonly byInstance: ReadonlyMap<InstanceName, Count>
  /** Keyed by the description of the requirements (`OSFamily=linux, cpu 4`). */
  readonly bySignature: ReadonlyMap<string, Count>
}

export function readFigures(grid: GridState): Figures {
  const { tasks, workerCounts, workers, instances, groups } = grid
  const slots = { total: 0, used: 0, staged: 0 }
  for (const worker of workers.values()) {
    slots.total += worker.slots
    slots.used += worker.used
    slots.staged += worker.staged
  }
  const byInstance = new Map<InstanceName, Count>()
  for (const { name, queued, active, unfinished } of instances.values())
    if (unfinished > 0) byInstance.set(name, { queued, active })
  const bySignature = new Map<string, Count>()
  for (const group of groups.values()) {
    const { queued, active } = group
    if (queued + active > 0) bySignature.set(describeRequirements(group), { queued, active })
  }
  return {
    queued: tasks.waiting,
    active: tasks.counts.assigned + tasks.counts.running + tasks.counts.stopping,
    tasks: { ...tasks.counts },
    workers: { ...workerCounts, OFFLINE: grid.awaited.size },
    slots,
    byInstance,
    bySignature,
  }
}
