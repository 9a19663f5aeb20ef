import type { StepProgress } from './driver/step-grid.ts'
import type {
  StepCounts,
  StepStatus,
  WorkflowRunEnd,
  WorkflowRunHead,
  WorkflowRunState,
  WorkflowRunStatus,
} from './driver/workflow-run.ts'
import { type RunEvent, RunEvents } from './run-events.ts'
import type { StepNote } from './store/workflow-store.ts'

const NEW: Omit<StepStatus, 'path'> = {
  state: 'queued',
  cached: false,
  operation: undefined,
  startedAt: undefined,
  endedAt: undefined,
  why: undefined,
}

/** A run in progress, with its steps and its listeners. */
export class OpenRun {
  readonly head: WorkflowRunHead
  readonly steps = new StepTable()
  readonly events: RunEvents
  /** Aborted when the run ends: open steps are cancelled. */
  readonly ending = new AbortController()
  state: WorkflowRunState = 'pending'
  isCancelled = false
  /** The end is being stored. */
  isOver = false
  #end: WorkflowRunEnd | undefined
  readonly #cached = new Set<string>()

  constructor(head: WorkflowRunHead, epoch: string) {
    this.head = head
    this.events = new RunEvents(epoch)
  }

  status(): WorkflowRunStatus {
    return { ...this.head, state: this.state, counts: this.steps.counts, end: this.#end }
  }

  began(): void {
    this.state = 'running'
    this.#publish({ kind: 'submission', state: 'running' })
  }

  progress(path: string, { state, operation, startedAt }: StepProgress): void {
    const before = this.steps.get(path)
    this.#put({ ...NEW, path, state, operation, startedAt: startedAt ?? before?.startedAt })
  }

  /** The result came from the cache. */
  hit(path: string): void {
    this.#cached.add(path)
  }

  /** Returns the step for the note in the store. */
  ended(path: string, { at, why }: { readonly at: number; readonly why: string | undefined }): StepStatus {
    const before = this.steps.get(path) ?? { ...NEW, path }
    const state = why === undefined ? 'success' : this.isCancelled ? 'cancelled' : 'failed'
    const step: StepStatus = { ...before, state, why, endedAt: at, cached: this.#cached.delete(path) }
    this.#put(step)
    return step
  }

  remember({ step }: StepNote): void {
    this.steps.put({ ...NEW, ...step })
  }

  /** Steps in progress when the run ends are cancelled. */
  settle({ at }: WorkflowRunEnd): void {
    for (const step of this.steps.list()) {
      if (step.endedAt === undefined) this.#put({ ...step, state: 'cancelled', endedAt: at })
    }
  }

  close(end: WorkflowRunEnd): void {
    this.state = end.state
    this.#end = end
    this.#publish({ kind: 'submission', state: end.state })
    this.events.close()
  }

  #put(step: StepStatus): void {
    if (this.steps.put(step)) this.#publish({ kind: 'step', step })
  }

  #publish(event: RunEvent): void {
    this.events.add(event, this.steps.counts)
  }
}

/** The steps of one run, in the order of their first change. */
export class StepTable {
  readonly #steps = new Map<string, StepStatus>()
  readonly #counts = { waiting: 0, running: 0, done: 0, cached: 0, failed: 0 }

  /** Returns false when nothing has changed. */
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
