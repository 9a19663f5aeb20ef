import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { Caller } from '../../model/caller.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type {
  StepStatus,
  WorkflowRunHead,
  WorkflowRunRequest,
  WorkflowRunState,
  WorkflowRunStatus,
} from './driver/workflow-run.ts'
import { blobsNamedBy, filesIn } from './named-blobs.ts'
import type { OpenRun } from './open-run.ts'
import type { RunEventListener } from './run-events.ts'
import { StepTable } from './step-table.ts'
import type { StoredEnd } from './store/workflow-store.ts'
import { storeOf, type WorkflowRunSummary, WorkflowRuns, type WorkflowServiceOptions } from './workflow-runs.ts'

/** Workflows on the server, from the order to what came of it. */
export interface WorkflowService {
  /** Resolves when it is on the disk, and cannot be lost any more. `missing` names what has to be uploaded first. */
  create(caller: Caller, request: WorkflowRunRequest): Promise<WorkflowRunStatus>
  find(caller: Caller, id: string): Promise<WorkflowRunStatus | undefined>
  steps(caller: Caller, id: string): Promise<readonly StepStatus[] | undefined>
  /** The files among the outputs, not those in directories. */
  filesOf(status: WorkflowRunStatus): readonly Digest[]
  /** The newest first. */
  list(caller: Caller, query: WorkflowRunQuery): WorkflowRunPage
  /** Resolves with how it stands when that is certain; one that is over stays as it is. */
  cancel(caller: Caller, id: string): Promise<WorkflowRunStatus | undefined>
  /** Listens to a run that is under way; undefined for any other. */
  listen(caller: Caller, id: string, since: EventsSince): RunEventListener | undefined
  /** Leaves everything as it is: it goes on after the next start. */
  close(): Promise<void>
}

export interface EventsSince {
  /** The id of the last event that the client received. */
  readonly after: string | undefined
  readonly wake: () => void
}

export interface WorkflowRunQuery {
  readonly instance: InstanceName | undefined
  readonly states: readonly WorkflowRunState[] | undefined
  readonly labels: Readonly<Record<string, string>>
  readonly limit: number
  readonly cursor: string | undefined
}

export interface WorkflowRunPage {
  readonly submissions: readonly WorkflowRunSummary[]
  readonly next: string | undefined
}

/** Limit of unfinished workflow runs. */
const MOST_OPEN = 10_000

/** Takes up what an earlier start left open. */
export async function openWorkflowService(options: WorkflowServiceOptions): Promise<WorkflowService> {
  const { store, clock, newId, roots } = options
  const shelf = new WorkflowRuns(options)
  await shelf.load()
  const find = async (_: Caller, id: string): Promise<WorkflowRunStatus | undefined> => {
    const submission = shelf.open.get(id)
    if (submission !== undefined) return submission.status()
    const ended = shelf.over.has(id) ? await store.ended(id) : undefined
    return ended && endedStatus(ended)
  }
  return {
    find,
    async create(_, order) {
      if (shelf.isClosing) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
      if (shelf.open.size >= MOST_OPEN)
        throw new FaultError({ kind: 'exhausted', resource: 'the number of open submissions', retryAfterMs: 10_000 })
      const { instance, name, labels } = order
      const { held, missing } = await blobsNamedBy([order.workflow, order.inputs], storeOf(options, instance))
      if (missing.length > 0) throw new FaultError({ kind: 'missing', digests: missing })
      const head = { id: newId(), instance, name, labels, createdAt: clock.now() }
      roots.hold(head.id, 'inputs', held)
      await store.add({ head, order })
      return shelf.begin(head, order).status()
    },
    async steps(_, id) {
      const submission = shelf.open.get(id)
      if (submission !== undefined) return submission.steps.list()
      return shelf.over.has(id) ? (await store.ended(id))?.steps : undefined
    },
    filesOf: ({ instance, end }) => filesIn(end?.outputs ?? {}, storeOf(options, instance).stager),
    list: (_, query) => pageOf([...shelf.over.values(), ...[...shelf.open.values()].map(summary)], query),
    async cancel(caller, id) {
      const submission = shelf.open.get(id)
      if (submission === undefined) return find(caller, id)
      submission.isCancelled = true
      const failure = { path: '', why: 'it was cancelled', unsupported: false }
      await shelf.finish(submission, { state: 'cancelled', at: clock.now(), outputs: undefined, failure })
      return find(caller, id)
    },
    listen: (_, id, { after, wake }) => shelf.open.get(id)?.events.listen(after, wake),
    close: () => shelf.close(),
  }
}

function endedStatus({ head, end, steps }: StoredEnd): WorkflowRunStatus {
  const table = new StepTable()
  for (const step of steps) table.put(step)
  return { ...head, state: end.state, counts: table.counts, end }
}

const summary = ({ head, state }: OpenRun): WorkflowRunSummary => ({ ...head, state, endedAt: undefined })

/** Newest first; a cursor is the last that was told. */
function pageOf(all: WorkflowRunSummary[], query: WorkflowRunQuery): WorkflowRunPage {
  const { instance, states, labels, limit, cursor } = query
  const key = ({ createdAt, id }: WorkflowRunHead): string => `${String(createdAt).padStart(16, '0')} ${id}`
  const matching = all
    .filter(
      (one) =>
        (instance === undefined || one.instance === instance) &&
        (states === undefined || states.includes(one.state)) &&
        Object.entries(labels).every(([name, value]) => one.labels[name] === value) &&
        (cursor === undefined || key(one) < cursor),
    )
    .sort((one, other) => (key(one) < key(other) ? 1 : -1))
  const submissions = matching.slice(0, limit)
  const last = submissions.at(-1)
  return { submissions, next: matching.length > limit && last !== undefined ? key(last) : undefined }
}
