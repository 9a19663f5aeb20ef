import type { StepCounts, StepStatus } from './driver/workflow-run.ts'

/** The steps of one submission, in the order in which they were first heard of. */
export class StepTable {
  readonly #steps = new Map<string, StepStatus>()
  readonly #counts = { waiting: 0, running: 0, done: 0, cached: 0, failed: 0 }

  /** False when that is how it stood. */
  put(step: StepStatus): boolean {
    const before = this.#steps.get(step.path)
    if (before?.state === step.state && before.operation === step.operation) return false
    if (before !== undefined) this.#count(before, -1)
    this.#count(step, 1)
    this.#steps.set(step.path, step)
    return true
  }

  get(path: string): StepStatus | undefined {
    return this.#steps.get(path)
  }

  get counts(): StepCounts {
    return { ...this.#counts }
  }

  list(): readonly StepStatus[] {
    return [...this.#steps.values()]
  }

  #count({ state, cached }: StepStatus, by: number): void {
    if (state === 'success') {
      this.#counts.done += by
      if (cached) this.#counts.cached += by
    } else if (state === 'running') this.#counts.running += by
    else if (state === 'queued' || state === 'retrying') this.#counts.waiting += by
    else this.#counts.failed += by
  }
}
