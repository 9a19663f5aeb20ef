import { invalid } from '../../base/fault.ts'
import { type LeasedTask, LeaseTaskRequest, LeaseTaskResponse } from '../gen/expbuild/worker/v1/worker_api.ts'
import { durationFromProto, durationToProto } from '../google/duration.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** A worker's right to an attempt, as it travels. Times are milliseconds. */
export interface LeaseMessage {
  readonly attemptId: string
  readonly operation: string
  /** `hash/size`; empty for what is no action. */
  readonly actionDigest: string
  readonly timeoutMs: number | undefined
  /** Since 1970, by the server's clock. */
  readonly expiresAt: number
  /** From now on. */
  readonly expiresInMs: number
  /** Empty for a worker that did not ask for it. */
  readonly spec: Uint8Array
  readonly attempt: number
  readonly prefetch: boolean
  readonly instance: string
  readonly origin: string
  /** Since 1970, by the server's clock; undefined when the server does not say. */
  readonly queuedAt: number | undefined
}

export interface LeaseQuestion {
  readonly worker: string
  readonly tasks: number
  readonly waitSeconds: number
}

const TIME: Shape = { 1: 'number', 2: 'number' }
export const LEASE_SHAPE: Shape = {
  1: 'text',
  2: 'text',
  3: 'text',
  4: TIME,
  5: TIME,
  100: 'bytes',
  101: 'number',
  102: 'number',
  103: 'text',
  104: 'text',
  105: TIME,
  106: TIME,
}

export function leaseQuestionFromProto(bytes: Uint8Array): LeaseQuestion {
  const named = { name: 'LeaseTaskRequest', shape: { 1: 'text', 2: 'number', 3: 'number' } } as const
  const { workerId, maxTasks, timeoutSeconds } = decodeWellFormed(LeaseTaskRequest, bytes, named)
  if (maxTasks < 1) throw invalid(`max_tasks is ${maxTasks}: a worker that asks for work must have room for some`)
  if (timeoutSeconds < 0) throw invalid('timeout_seconds is negative')
  return { worker: workerId, tasks: maxTasks, waitSeconds: timeoutSeconds }
}

export const leaseQuestionToProto = ({ worker, tasks, waitSeconds }: LeaseQuestion): Uint8Array =>
  LeaseTaskRequest.encode({ workerId: worker, maxTasks: tasks, timeoutSeconds: waitSeconds }).finish()

export const leasesToProto = (leases: readonly LeaseMessage[]): Uint8Array =>
  LeaseTaskResponse.encode({ tasks: leases.map(leaseMessage) }).finish()

export function leasesFromProto(bytes: Uint8Array): LeaseMessage[] {
  const named = { name: 'LeaseTaskResponse', shape: { 1: LEASE_SHAPE } } as const
  return decodeWellFormed(LeaseTaskResponse, bytes, named).tasks.map(leaseOf)
}

export const leaseMessage = (lease: LeaseMessage): LeasedTask => ({
  taskId: lease.attemptId,
  operationName: lease.operation,
  actionDigest: lease.actionDigest,
  timeout: lease.timeoutMs === undefined ? undefined : durationToProto(lease.timeoutMs),
  leaseExpiresAt: durationToProto(lease.expiresAt), // a timestamp counts from 1970 as a duration does from 0
  spec: lease.spec,
  attempt: lease.attempt,
  prefetch: lease.prefetch,
  instanceName: lease.instance,
  origin: lease.origin,
  expiresIn: durationToProto(lease.expiresInMs),
  queuedAt: lease.queuedAt === undefined ? undefined : durationToProto(lease.queuedAt),
})

export const leaseOf = (task: LeasedTask): LeaseMessage => ({
  attemptId: task.taskId,
  operation: task.operationName,
  actionDigest: task.actionDigest,
  timeoutMs: task.timeout === undefined ? undefined : durationFromProto(task.timeout),
  expiresAt: durationFromProto(task.leaseExpiresAt),
  expiresInMs: durationFromProto(task.expiresIn),
  spec: task.spec,
  attempt: task.attempt,
  prefetch: task.prefetch,
  instance: task.instanceName,
  origin: task.origin,
  queuedAt: task.queuedAt && durationFromProto(task.queuedAt),
})
