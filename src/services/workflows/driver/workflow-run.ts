import type { InstanceName } from '../../../model/instance-name.ts'
import type { ValueRecord } from '../../../workflow/values/value.ts'

/** A request to run a workflow, with all that it needs. */
export interface WorkflowRunRequest {
  readonly instance: InstanceName
  /** One document that refers to no other. */
  readonly workflow: ValueRecord
  /** Files and directories in it are in the store, or literals. */
  readonly inputs: ValueRecord
  /** Ontologies that the document names in `$schemas`, by their addresses. */
  readonly schemas: Readonly<Record<string, string>>
  /** A display name. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** A lower number is scheduled earlier. */
  readonly priority: number
}

export const WORKFLOW_RUN_STATES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
export type WorkflowRunState = (typeof WORKFLOW_RUN_STATES)[number]

/** The head of a run, without its workflow. */
export interface WorkflowRunHead {
  readonly id: string
  readonly instance: InstanceName
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly createdAt: number
}

export const STEP_STATES = ['queued', 'running', 'retrying', 'success', 'failed', 'cancelled'] as const
export type StepRunState = (typeof STEP_STATES)[number]

/** One run of a step, by its path in the workflow. The empty path is a process that is a single tool. */
export interface StepStatus {
  readonly path: string
  readonly state: StepRunState
  /** The result came from the cache. */
  readonly cached: boolean
  /** The operation name of its task; undefined for a step without a task, such as an expression. */
  readonly operation: string | undefined
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
  /** The error message of a failed step. */
  readonly why: string | undefined
}

export interface WorkflowRunEnd {
  readonly state: 'completed' | 'failed' | 'cancelled'
  readonly at: number
  readonly outputs: ValueRecord | undefined
  readonly failure: WorkflowRunFailure | undefined
}

export interface WorkflowRunFailure {
  /** Path of the failed step; empty for the workflow itself. */
  readonly path: string
  readonly why: string
  /** The document uses a feature that Windlass does not support. */
  readonly unsupported: boolean
}

export interface WorkflowRunStatus extends WorkflowRunHead {
  readonly state: WorkflowRunState
  readonly counts: StepCounts
  readonly end: WorkflowRunEnd | undefined
}

/** The number of step runs in each state. Cached ones also count as done. */
export interface StepCounts {
  readonly waiting: number
  readonly running: number
  readonly done: number
  readonly cached: number
  readonly failed: number
}
