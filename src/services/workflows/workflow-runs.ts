import type { InstanceName } from '../../model/instance-name.ts'
import type { Stager } from '../../stagers/stager.ts'
import type { TreeStore } from '../../stagers/tree-store.ts'
import { plainBlobs, treeStore } from './driver/tree-blobs.ts'
import type { WorkflowRunEnd, WorkflowRunHead, WorkflowRunRequest, WorkflowRunState } from './driver/workflow-run.ts'
import { blobsNamedBy } from './named-blobs.ts'
import { OpenRun } from './open-run.ts'
import { type RunTools, runToEnd } from './run-progress.ts'
import type { StepNote, StoredEnd } from './store/workflow-store.ts'

export interface WorkflowServiceOptions extends Omit<RunTools, 'isClosing'> {
  readonly newId: () => string
  /** How long ended runs are kept. */
  readonly retentionMs: number
  /** Number of this server start: part of the ids of events. */
  readonly epoch: number
}

export interface WorkflowRunSummary extends WorkflowRunHead {
  readonly state: WorkflowRunState
  readonly endedAt: number | undefined
}

const FORGET_EVERY_MS = 60_000

/** The store of an instance, as trees and by locations. */
export function storeOf(
  { blobsOf, stagerOf }: WorkflowServiceOptions,
  instance: InstanceName,
): { readonly trees: TreeStore; readonly stager: Stager } {
  const trees = treeStore(plainBlobs(blobsOf(instance)), 'sha256')
  return { trees, stager: stagerOf(trees) }
}

/** Those that are under way, and the heads of those that are over, from the start of the server to its stop. */
export class WorkflowRuns {
  readonly open = new Map<string, OpenRun>()
  readonly over = new Map<string, WorkflowRunSummary>()
  isClosing = false
  readonly #options: WorkflowServiceOptions
  #takeBack = (): void => {}

  constructor(options: WorkflowServiceOptions) {
    this.#options = options
  }

  async load(): Promise<void> {
    const loaded = await this.#options.store.load()
    for (const { head, end } of loaded.over) this.over.set(head.id, { ...head, state: end.state, endedAt: end.at })
    void this.#holdEnded(loaded.over)
    for (const { head, order, notes } of loaded.open) this.begin(head, order, notes)
    this.#keepForgetting()
  }

  begin(head: WorkflowRunHead, order: WorkflowRunRequest, notes?: readonly StepNote[]): OpenRun {
    const { epoch, log } = this.#options
    const submission = new OpenRun(head, `${epoch}`)
    this.open.set(head.id, submission)
    void runToEnd(submission, { order, notes }, { ...this.#options, isClosing: () => this.isClosing })
      .then((end) => this.finish(submission, end))
      .catch((error: unknown) => log.error({ err: error, submission: head.id }, 'cannot record the end of a workflow'))
    return submission
  }

  /** The first end counts: an outcome after a cancellation, or the reverse, changes nothing. */
  async finish(submission: OpenRun, end: WorkflowRunEnd): Promise<void> {
    const { head, steps } = submission
    const { store, roots } = this.#options
    if (this.isClosing || submission.isOver) return
    submission.isOver = true
    if (end.outputs !== undefined) {
      const { held } = await blobsNamedBy(end.outputs, storeOf(this.#options, head.instance))
      roots.hold(head.id, 'outputs', held)
    }
    submission.leaving.abort()
    submission.settle(end)
    await store.end(head.id, { head, end, steps: steps.list() })
    roots.release(head.id, 'inputs')
    this.open.delete(head.id)
    this.over.set(head.id, { ...head, state: end.state, endedAt: end.at })
    submission.over(end)
  }

  async close(): Promise<void> {
    this.isClosing = true
    this.#takeBack()
    await this.#options.driver.close()
    await this.#options.store.close()
  }

  #keepForgetting(): void {
    const again = (): void => {
      if (!this.isClosing) this.#keepForgetting()
    }
    this.#takeBack = this.#options.clock.after(FORGET_EVERY_MS, () => void this.#forgetOld().then(again, again))
  }

  async #forgetOld(): Promise<void> {
    const { clock, retentionMs, roots, store } = this.#options
    for (const { id, endedAt = 0 } of this.over.values()) {
      if (endedAt > clock.now() - retentionMs) continue
      this.over.delete(id)
      roots.release(id, 'outputs')
      await store.remove(id)
    }
  }

  /** In the background: after a start everything counts as just touched. */
  async #holdEnded(ended: readonly Pick<StoredEnd, 'head' | 'end'>[]): Promise<void> {
    const { roots, log } = this.#options
    for (const { head, end } of ended) {
      if (end.outputs === undefined) continue
      try {
        const { held } = await blobsNamedBy(end.outputs, storeOf(this.#options, head.instance))
        roots.hold(head.id, 'outputs', held)
      } catch (error) {
        log.warn({ err: error, submission: head.id }, 'cannot pin the outputs of a workflow')
      }
    }
  }
}
