import { invalid } from '../../base/fault.ts'
import { type LeasedTask, LeaseTaskRequest, LeaseTaskResponse } from '../gen/expbuild/worker/v1/worker_api.ts'
import { Order, StopReason, StreamLeasesRequest, StreamLeasesResponse } from '../gen/windlass/worker/v1/worker.ts'
import { durationFromProto, durationToProto } from '../google/time.ts'
import { encoded } from '../messages/message-writer.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'
import { INPUT_SHAPE, INPUT_TAKEN_SHAPE, type InputMessage, inputMessage, inputOf, mustBeNumber } from './input.ts'
import { REGISTRATION_SHAPE, registrationMessage, registrationOf, type WorkerRegistration } from './registration.ts'

/** A lease as workers receive it, by LeaseTask or on their stream. Times are milliseconds. */
export interface LeaseMessage {
  readonly attemptId: string
  readonly operation: string
  /** `hash/size`; empty for a task that is no action. */
  readonly actionDigest: string
  readonly timeoutMs: number | undefined
  /** Since 1970, by the server's clock. */
  readonly expiresAt: number
  /** Counted from the moment of sending. */
  readonly expiresInMs: number
  /** Empty when the worker did not request specs. */
  readonly spec: Uint8Array
  readonly attempt: number
  readonly prefetch: boolean
  readonly instance: string
  readonly origin: string
  /** Since 1970, by the server's clock; undefined for a server that does not report it. */
  readonly queuedAt: number | undefined
}

export interface LeaseRequest {
  readonly worker: string
  readonly tasks: number
  readonly waitSeconds: number
}

const TIME: Shape = { 1: 'number', 2: 'number' }
const LEASE_SHAPE: Shape = {
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

export function leaseRequestFromProto(bytes: Uint8Array): LeaseRequest {
  const named = { name: 'LeaseTaskRequest', shape: { 1: 'text', 2: 'number', 3: 'number' } } as const
  const { workerId, maxTasks, timeoutSeconds } = decodeWellFormed(LeaseTaskRequest, bytes, named)
  if (maxTasks < 1) throw invalid(`max_tasks is ${maxTasks}: it must be at least 1`)
  if (timeoutSeconds < 0) throw invalid('timeout_seconds is negative')
  return { worker: workerId, tasks: maxTasks, waitSeconds: timeoutSeconds }
}

export const leaseRequestToProto = ({ worker, tasks, waitSeconds }: LeaseRequest): Uint8Array =>
  LeaseTaskRequest.encode({ workerId: worker, maxTasks: tasks, timeoutSeconds: waitSeconds }).finish()

export const leasesToProto = (leases: readonly LeaseMessage[]): Uint8Array =>
  LeaseTaskResponse.encode({ tasks: leases.map(leaseMessage) }).finish()

export function leasesFromProto(bytes: Uint8Array): LeaseMessage[] {
  const named = { name: 'LeaseTaskResponse', shape: { 1: LEASE_SHAPE } } as const
  return decodeWellFormed(LeaseTaskResponse, bytes, named).tasks.map(leaseOf)
}

const leaseMessage = (lease: LeaseMessage): LeasedTask => ({
  taskId: lease.attemptId,
  operationName: lease.operation,
  actionDigest: lease.actionDigest,
  timeout: lease.timeoutMs === undefined ? undefined : durationToProto(lease.timeoutMs),
  leaseExpiresAt: durationToProto(lease.expiresAt), // a Timestamp has the fields of a Duration since 1970
  spec: lease.spec,
  attempt: lease.attempt,
  prefetch: lease.prefetch,
  instanceName: lease.instance,
  origin: lease.origin,
  expiresIn: durationToProto(lease.expiresInMs),
  queuedAt: lease.queuedAt === undefined ? undefined : durationToProto(lease.queuedAt),
})

const leaseOf = (task: LeasedTask): LeaseMessage => ({
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

/** A message of a worker on its stream. */
export type StreamWorkerMessage =
  | { readonly kind: 'register'; readonly registration: WorkerRegistration }
  | { readonly kind: 'started'; readonly attemptId: string }
  /** The worker has processed the input up to this number. */
  | { readonly kind: 'input-taken'; readonly attemptId: string; readonly number: number }

/** A message of the server on the stream of a worker. */
export type StreamServerMessage =
  | { readonly kind: 'registered' }
  | { readonly kind: 'leases'; readonly leases: readonly LeaseMessage[] }
  | { readonly kind: 'begin'; readonly attemptId: string }
  | { readonly kind: 'stop'; readonly attemptId: string; readonly why: AttemptStop }
  | { readonly kind: 'order'; readonly order: OrderKind }
  | { readonly kind: 'input'; readonly input: InputMessage }
  /** A message kind of a newer server; the worker ignores it. */
  | { readonly kind: 'unknown' }

export type AttemptStop = 'cancelled' | 'timeout' | 'recalled' | 'superseded'
export type OrderKind = 'drain' | 'resume' | 'shutdown' | 'register'

const STOPS: readonly AttemptStop[] = ['cancelled', 'timeout', 'recalled', 'superseded']
const STOP_OF = {
  cancelled: StopReason.CANCELLED,
  timeout: StopReason.OUT_OF_TIME,
  recalled: StopReason.RECALLED,
  superseded: StopReason.SUPERSEDED,
} as const satisfies Record<AttemptStop, StopReason>

const ORDER_OF = {
  drain: Order.DRAIN,
  resume: Order.RESUME,
  shutdown: Order.SHUTDOWN,
  register: Order.REGISTER,
} as const satisfies Record<OrderKind, Order>
const ORDERS = new Map<number, OrderKind>(Object.entries(ORDER_OF).map(([kind, number]) => [number, kind as OrderKind]))

export const workerMessageToProto = (message: StreamWorkerMessage): Uint8Array =>
  StreamLeasesRequest.encode(workerMessageProto(message)).finish()

function workerMessageProto(message: StreamWorkerMessage): StreamLeasesRequest {
  switch (message.kind) {
    case 'register':
      return { register: registrationMessage(message.registration) }
    case 'started':
      return { started: message.attemptId }
    case 'input-taken':
      return { inputTaken: { taskId: message.attemptId, number: message.number } }
  }
}

const WORKER_MESSAGE = {
  name: 'StreamLeasesRequest',
  shape: { 1: REGISTRATION_SHAPE, 2: 'text', 3: INPUT_TAKEN_SHAPE },
} as const

export function workerMessageFromProto(bytes: Uint8Array): StreamWorkerMessage | undefined {
  const { register, started, inputTaken } = decodeWellFormed(StreamLeasesRequest, bytes, WORKER_MESSAGE)
  if (register !== undefined) return { kind: 'register', registration: registrationOf(register) }
  if (inputTaken !== undefined)
    return { kind: 'input-taken', attemptId: inputTaken.taskId, number: mustBeNumber(inputTaken.number) }
  return started === undefined ? undefined : { kind: 'started', attemptId: started }
}

export function serverMessageToProto(message: StreamServerMessage): Uint8Array {
  return encoded(StreamLeasesResponse, serverMessageProto(message))
}

function serverMessageProto(message: StreamServerMessage): StreamLeasesResponse {
  switch (message.kind) {
    case 'registered':
      return { registered: {} }
    case 'leases':
      return { leases: { tasks: message.leases.map(leaseMessage) } }
    case 'begin':
      return { begin: message.attemptId }
    case 'stop':
      return { stop: { taskId: message.attemptId, reason: STOP_OF[message.why] } }
    case 'order':
      return { order: ORDER_OF[message.order] }
    case 'input':
      return { input: inputMessage(message.input) }
    case 'unknown':
      return {}
  }
}

const SERVER_MESSAGE = {
  name: 'StreamLeasesResponse',
  shape: { 1: {}, 2: { 1: LEASE_SHAPE }, 3: 'text', 4: { 1: 'text', 2: 'number' }, 5: 'number', 6: INPUT_SHAPE },
} as const

export function serverMessageFromProto(bytes: Uint8Array): StreamServerMessage {
  const { registered, leases, begin, stop, order, input } = decodeWellFormed(
    StreamLeasesResponse,
    bytes,
    SERVER_MESSAGE,
  )
  if (registered !== undefined) return { kind: 'registered' }
  if (leases !== undefined) return { kind: 'leases', leases: leases.tasks.map(leaseOf) }
  if (begin !== undefined) return { kind: 'begin', attemptId: begin }
  if (stop !== undefined) return { kind: 'stop', attemptId: stop.taskId, why: STOPS[stop.reason] ?? 'cancelled' }
  if (input !== undefined) return { kind: 'input', input: inputOf(input) }
  const known = ORDERS.get(order ?? 0)
  return known === undefined ? { kind: 'unknown' } : { kind: 'order', order: known }
}
