import type { WorkerView } from './worker-session.ts'

const SHOWN_MS = 600_000
const MOST_SHOWN = 1000

/** Workers that the server lost, for operators that ask where a worker is: OFFLINE until it registers again. */
export class LostWorkers {
  readonly #lost = new Map<string, { readonly view: WorkerView; readonly at: number }>()

  add(view: WorkerView, now: number): void {
    this.#lost.delete(view.worker)
    this.#lost.set(view.worker, { view: { ...view, state: 'OFFLINE' }, at: now })
    const [oldest] = this.#lost.keys()
    if (this.#lost.size > MOST_SHOWN && oldest !== undefined) this.#lost.delete(oldest)
  }

  remove(worker: string): void {
    this.#lost.delete(worker)
  }

  views(now: number): WorkerView[] {
    for (const [worker, { at }] of this.#lost) if (now - at >= SHOWN_MS) this.#lost.delete(worker)
    return Array.from(this.#lost.values(), ({ view }) => view)
  }
}
