import type { StepStatus, WorkflowRunStatus } from '../../../services/workflows/driver/workflow-run.ts'
import type { WorkflowRunSummary } from '../../../services/workflows/workflow-service.ts'

const time = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString())

export const summaryJson = ({ id, name, instance, labels, state, createdAt, endedAt }: WorkflowRunSummary) => ({
  id,
  name,
  instance,
  labels,
  state: state.toUpperCase(),
  created_at: time(createdAt),
  completed_at: time(endedAt),
})

export const statusJson = (status: WorkflowRunStatus) => ({
  ...summaryJson({ ...status, endedAt: status.end?.at }),
  counts: status.counts,
  outputs: status.end?.outputs ?? null,
  error: status.end?.failure
    ? {
        step: status.end.failure.path,
        message: status.end.failure.why,
        unsupported: status.end.failure.unsupported,
      }
    : null,
})

export const stepJson = ({ path, state, cached, operation, startedAt, endedAt, why }: StepStatus) => ({
  path,
  state: state.toUpperCase(),
  cached,
  task: operation ?? null,
  started_at: time(startedAt),
  completed_at: time(endedAt),
  error: why ?? null,
})
