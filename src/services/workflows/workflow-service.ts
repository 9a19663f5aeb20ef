import type { Digest } from '../../base/digest.ts'
import type { Caller } from '../../model/caller.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type {
  StepStatus,
  WorkflowRunHead,
  WorkflowRunRequest,
  WorkflowRunState,
  WorkflowRunStatus,
} from './driver/workflow-run.ts'
import type { RunEventListener } from './run-events.ts'

/** Runs workflows on the server. */
export interface WorkflowService {
  /** Resolves when the request is durable. Rejects with `missing` and the blobs that the client must upload first. */
  create(caller: Caller, request: WorkflowRunRequest): Promise<WorkflowRunStatus>
  find(caller: Caller, id: string): Promise<WorkflowRunStatus | undefined>
  steps(caller: Caller, id: string): Promise<readonly StepStatus[] | undefined>
  /** The files among the outputs, without those in directories. */
  filesOf(status: WorkflowRunStatus): readonly Digest[]
  /** Newest first. */
  list(caller: Caller, query: WorkflowRunQuery): WorkflowRunPage
  /** Resolves with the status when the end is stored; an ended run stays as it is. */
  cancel(caller: Caller, id: string): Promise<WorkflowRunStatus | undefined>
  /** Listens to a run in progress; undefined for any other. */
  listen(caller: Caller, id: string, since: EventsSince): RunEventListener | undefined
  /** Open runs continue after the next start. */
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

export interface WorkflowRunSummary extends WorkflowRunHead {
  readonly state: WorkflowRunState
  readonly endedAt: number | undefined
}
