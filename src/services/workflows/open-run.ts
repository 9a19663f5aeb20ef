import type { StepProgress } from './driver/step-grid.ts'
import type {
  StepStatus,
  WorkflowRunEnd,
  WorkflowRunHead,
  WorkflowRunState,
  WorkflowRunStatus,
} from './driver/workflow-run.ts'
import type { RunEvent } from './run-events.ts'
import { RunEvents } from './run-events.ts'
import { StepTable } from './step-table.ts'
import type { StepNote } from './store/workflow-store.ts'

const NEW: Omit<StepStatus, 'path'> = {
  state: 'queued',
  cached: false,
  operation: undefined,
  startedAt: undefined,
  endedAt: undefined,
  why: undefined,
}

/** A run that is under way, with its steps and its listeners. */
export class OpenRun {
  readonly head: WorkflowRunHead
  readonly steps = new StepTable()
  readonly events: RunEvents
  readonly leaving = new AbortController()
  state: WorkflowRunState = 'pending'
  isCancelled = false
  /** Its end is being written down. */
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
    this.#tell({ kind: 'submission', state: 'running' })
  }

  progress(path: string, { state, operation, startedAt }: StepProgress): void {
    const before = this.steps.get(path)
    this.#put({ ...NEW, path, state, operation, startedAt: startedAt ?? before?.startedAt })
  }

  /** The result came from the cache. */
  hit(path: string): void {
    this.#cached.add(path)
  }

  /** Answers what is to be remembered of it. */
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

  /** Steps that are under way when the run ends are cancelled. */
  settle({ at }: WorkflowRunEnd): void {
    for (const step of this.steps.list()) {
      if (step.endedAt === undefined) this.#put({ ...step, state: 'cancelled', endedAt: at })
    }
  }

  over(end: WorkflowRunEnd): void {
    this.state = end.state
    this.#end = end
    this.#tell({ kind: 'submission', state: end.state })
    this.events.close()
  }

  #put(step: StepStatus): void {
    if (this.steps.put(step)) this.#tell({ kind: 'step', step })
  }

  #tell(event: RunEvent): void {
    this.events.add(event, this.steps.counts)
  }
}
