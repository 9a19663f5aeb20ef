import type { WorkerView } from './worker-session.ts'

const SHOWN_MS = 600_000
const MOST_SHOWN = 1000

/**
 * Workers that the server has lost, for operators who look for a worker. They are OFFLINE until they register again.
 */
export interface LostWorkers {
  add(view: WorkerView, now: number): void
  remove(worker: string): void
  views(now: number): WorkerView[]
}

export function lostWorkers(): LostWorkers {
  const lost = new Map<string, { readonly view: WorkerView; readonly at: number }>()
  return {
    add(view, now) {
      lost.delete(view.worker)
      lost.set(view.worker, { view: { ...view, state: 'OFFLINE' }, at: now })
      const [oldest] = lost.keys()
      if (lost.size > MOST_SHOWN && oldest !== undefined) lost.delete(oldest)
    },
    remove: (worker) => void lost.delete(worker),
    views(now) {
      for (const [worker, { at }] of lost) if (now - at >= SHOWN_MS) lost.delete(worker)
      return Array.from(lost.values(), ({ view }) => view)
    },
  }
}
