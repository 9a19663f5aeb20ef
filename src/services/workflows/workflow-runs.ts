import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { Stager } from '../../stagers/stager.ts'
import type { TreeStore } from '../../stagers/tree-store.ts'
import type { Value } from '../../workflow/values/value.ts'
import { plainBlobs, treeStore } from './driver/tree-blobs.ts'
import type { WorkflowRunEnd, WorkflowRunHead, WorkflowRunRequest, WorkflowRunStatus } from './driver/workflow-run.ts'
import { forgetOldRuns, pageOf, pinOutputs } from './kept-runs.ts'
import { blobsNamedBy, filesIn } from './named-blobs.ts'
import { OpenRun, StepTable } from './open-run.ts'
import { type RunTools, runToEnd } from './run-progress.ts'
import type { StepNote, StoredEnd } from './store/workflow-store.ts'
import type { WorkflowRunSummary, WorkflowService } from './workflow-service.ts'

export interface WorkflowServiceOptions extends Omit<RunTools, 'isClosing'> {
  readonly newId: () => string
  /** How long ended runs are kept. */
  readonly retentionMs: number
  /** Number of this server start: part of the ids of events. */
  readonly epoch: number
}

/** Limit of unfinished workflow runs. */
const MOST_OPEN = 10_000

/** Opens the service, and resumes the runs that an earlier start left open. */
export async function openWorkflowService(options: WorkflowServiceOptions): Promise<WorkflowService> {
  const { store, clock, newId, roots } = options
  const runs = new WorkflowRuns(options)
  await runs.load()
  const find = async (id: string): Promise<WorkflowRunStatus | undefined> => {
    const run = runs.open.get(id)
    if (run !== undefined) return run.status()
    const ended = runs.ended.has(id) ? await store.ended(id) : undefined
    return ended && endedStatus(ended)
  }
  return {
    find: (_, id) => find(id),
    async create(_, order) {
      if (runs.isClosing) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
      if (runs.open.size >= MOST_OPEN)
        throw new FaultError({ kind: 'exhausted', resource: 'the number of open submissions', retryAfterMs: 10_000 })
      const { instance, name, labels } = order
      const { held, missing } = await blobsNamedBy([order.workflow, order.inputs], storeOf(options, instance))
      if (missing.length > 0) throw new FaultError({ kind: 'missing', digests: missing })
      const head = { id: newId(), instance, name, labels, createdAt: clock.now() }
      roots.hold(head.id, 'inputs', held)
      await store.add({ head, order })
      return runs.begin(head, order).status()
    },
    async steps(_, id) {
      const run = runs.open.get(id)
      if (run !== undefined) return run.steps.list()
      return runs.ended.has(id) ? (await store.ended(id))?.steps : undefined
    },
    filesOf: ({ instance, end }) => filesIn(end?.outputs ?? {}, storeOf(options, instance).stager),
    list: (_, query) => pageOf([...runs.ended.values(), ...[...runs.open.values()].map(summary)], query),
    async cancel(_, id) {
      const run = runs.open.get(id)
      if (run === undefined) return find(id)
      run.isCancelled = true
      const failure = { path: '', why: 'it was cancelled', unsupported: false }
      await runs.finish(run, { state: 'cancelled', at: clock.now(), outputs: undefined, failure })
      return find(id)
    },
    listen: (_, id, { after, wake }) => runs.open.get(id)?.events.listen(after, wake),
    close: () => runs.close(),
  }
}

/** The blob store of an instance: as trees, and by the locations of files. */
function storeOf(
  { blobsOf, stagerOf }: WorkflowServiceOptions,
  instance: InstanceName,
): { readonly trees: TreeStore; readonly stager: Stager } {
  const trees = treeStore(plainBlobs(blobsOf(instance)), 'sha256')
  return { trees, stager: stagerOf(trees) }
}

function endedStatus({ head, end, steps }: StoredEnd): WorkflowRunStatus {
  const table = new StepTable()
  for (const step of steps) table.put(step)
  return { ...head, state: end.state, counts: table.counts, end }
}

const summary = ({ head, state }: OpenRun): WorkflowRunSummary => ({ ...head, state, endedAt: undefined })

/** The runs in progress, and the heads of the ended ones. */
class WorkflowRuns {
  readonly open = new Map<string, OpenRun>()
  readonly ended = new Map<string, WorkflowRunSummary>()
  isClosing = false
  readonly #options: WorkflowServiceOptions
  #stopForgetting = (): void => {}

  constructor(options: WorkflowServiceOptions) {
    this.#options = options
  }

  async load(): Promise<void> {
    const loaded = await this.#options.store.load()
    for (const { head, end } of loaded.over) this.ended.set(head.id, { ...head, state: end.state, endedAt: end.at })
    const kept = { ...this.#options, blobsOf: this.#outputBlobs }
    void pinOutputs(loaded.over, kept)
    for (const { head, order, notes } of loaded.open) this.begin(head, order, notes)
    this.#stopForgetting = forgetOldRuns(this.ended, kept)
  }

  begin(head: WorkflowRunHead, order: WorkflowRunRequest, notes?: readonly StepNote[]): OpenRun {
    const { epoch, log } = this.#options
    const run = new OpenRun(head, `${epoch}`)
    this.open.set(head.id, run)
    void runToEnd(run, { order, notes }, { ...this.#options, isClosing: () => this.isClosing })
      .then((end) => this.finish(run, end))
      .catch((error: unknown) => log.error({ err: error, submission: head.id }, 'cannot record the end of a workflow'))
    return run
  }

  /** The first end counts: a later result or cancellation changes nothing. */
  async finish(run: OpenRun, end: WorkflowRunEnd): Promise<void> {
    const { head, steps } = run
    const { store, roots } = this.#options
    if (this.isClosing || run.isOver) return
    run.isOver = true
    if (end.outputs !== undefined) roots.hold(head.id, 'outputs', await this.#outputBlobs(head.instance, end.outputs))
    run.ending.abort()
    run.settle(end)
    await store.end(head.id, { head, end, steps: steps.list() })
    roots.release(head.id, 'inputs')
    this.open.delete(head.id)
    this.ended.set(head.id, { ...head, state: end.state, endedAt: end.at })
    run.close(end)
  }

  async close(): Promise<void> {
    this.isClosing = true
    this.#stopForgetting()
    await this.#options.driver.close()
    await this.#options.store.close()
  }

  readonly #outputBlobs = async (instance: InstanceName, outputs: Value): Promise<readonly Digest[]> =>
    (await blobsNamedBy(outputs, storeOf(this.#options, instance))).held
}
