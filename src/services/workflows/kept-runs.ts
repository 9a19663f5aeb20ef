import type { Clock } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import type { Log } from '../../base/log.ts'
import type { BlobRoots } from '../../engine/tasks/ports.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { Value } from '../../workflow/values/value.ts'
import type { WorkflowRunHead } from './driver/workflow-run.ts'
import type { StoredEnd, WorkflowStore } from './store/workflow-store.ts'
import type { WorkflowRunPage, WorkflowRunQuery, WorkflowRunSummary } from './workflow-service.ts'

const FORGET_EVERY_MS = 60_000

export interface KeptRunsOptions {
  readonly store: WorkflowStore
  readonly roots: BlobRoots
  readonly clock: Clock
  readonly log: Log
  /** How long ended runs are kept. */
  readonly retentionMs: number
  /** The blobs of output values that are in the store. */
  readonly blobsOf: (instance: InstanceName, outputs: Value) => Promise<readonly Digest[]>
}

/** Removes ended runs after their retention time. Returns a function that stops it. */
export function forgetOldRuns(ended: Map<string, WorkflowRunSummary>, options: KeptRunsOptions): () => void {
  const { store, roots, clock, retentionMs } = options
  let isClosed = false
  let cancelTimer = (): void => {}
  const forget = async (): Promise<void> => {
    for (const { id, endedAt = 0 } of ended.values()) {
      if (endedAt > clock.now() - retentionMs) continue
      ended.delete(id)
      roots.release(id, 'outputs')
      await store.remove(id)
    }
  }
  const schedule = (): void => {
    if (!isClosed) cancelTimer = clock.after(FORGET_EVERY_MS, () => void forget().then(schedule, schedule))
  }
  schedule()
  return () => {
    isClosed = true
    cancelTimer()
  }
}

/**
 * Pins the outputs of runs that ended before this start. Runs in the background: after a start, all blobs count as just
 * used.
 */
export async function pinOutputs(
  ended: readonly Pick<StoredEnd, 'head' | 'end'>[],
  { roots, log, blobsOf }: KeptRunsOptions,
): Promise<void> {
  for (const { head, end } of ended) {
    if (end.outputs === undefined) continue
    try {
      roots.hold(head.id, 'outputs', await blobsOf(head.instance, end.outputs))
    } catch (error) {
      log.warn({ err: error, submission: head.id }, 'cannot pin the outputs of a workflow')
    }
  }
}

/** A page of runs, the newest first; a cursor names the last run of a page. */
export function pageOf(all: WorkflowRunSummary[], query: WorkflowRunQuery): WorkflowRunPage {
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
