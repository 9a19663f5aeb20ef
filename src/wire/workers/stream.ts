import { invalid } from '../../base/fault.ts'
import {
  Order,
  ReportOutputRequest,
  StopReason,
  StreamLeasesRequest,
  StreamLeasesResponse,
} from '../gen/windlass/worker/v1/worker.ts'
import { encoded } from '../messages/encoded.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'
import { INPUT_SHAPE, INPUT_TAKEN_SHAPE, type InputMessage, inputMessage, inputOf, mustBeNumber } from './input.ts'
import { LEASE_SHAPE, type LeaseMessage, leaseMessage, leaseOf } from './lease.ts'
import { REGISTRATION_SHAPE, registrationMessage, registrationOf, type WorkerRegistration } from './registration.ts'

/** What a worker says over its stream. */
export type StreamWorkerMessage =
  | { readonly kind: 'register'; readonly registration: WorkerRegistration }
  | { readonly kind: 'started'; readonly attemptId: string }
  /** What was done to it has reached it, up to this number. */
  | { readonly kind: 'input-taken'; readonly attemptId: string; readonly number: number }

/** What it is told. */
export type StreamServerMessage =
  | { readonly kind: 'registered' }
  | { readonly kind: 'leases'; readonly leases: readonly LeaseMessage[] }
  | { readonly kind: 'begin'; readonly attemptId: string }
  | { readonly kind: 'stop'; readonly attemptId: string; readonly why: AttemptStop }
  | { readonly kind: 'order'; readonly order: OrderKind }
  | { readonly kind: 'input'; readonly input: InputMessage }
  /** From a newer server; nothing comes of it. */
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
const ORDERS = new Map<number, OrderKind>(Object.entries(ORDER_OF).map(([word, number]) => [number, word as OrderKind]))

export const workerMessageToProto = (word: StreamWorkerMessage): Uint8Array =>
  StreamLeasesRequest.encode(workerMessage(word)).finish()

function workerMessage(word: StreamWorkerMessage): StreamLeasesRequest {
  switch (word.kind) {
    case 'register':
      return { register: registrationMessage(word.registration) }
    case 'started':
      return { started: word.attemptId }
    case 'input-taken':
      return { inputTaken: { taskId: word.attemptId, number: word.number } }
  }
}

const WORKER_WORD = {
  name: 'StreamLeasesRequest',
  shape: { 1: REGISTRATION_SHAPE, 2: 'text', 3: INPUT_TAKEN_SHAPE },
} as const

export function workerMessageFromProto(bytes: Uint8Array): StreamWorkerMessage | undefined {
  const { register, started, inputTaken } = decodeWellFormed(StreamLeasesRequest, bytes, WORKER_WORD)
  if (register !== undefined) return { kind: 'register', registration: registrationOf(register) }
  if (inputTaken !== undefined)
    return { kind: 'input-taken', attemptId: inputTaken.taskId, number: mustBeNumber(inputTaken.number) }
  return started === undefined ? undefined : { kind: 'started', attemptId: started }
}

export function serverMessageToProto(word: StreamServerMessage): Uint8Array {
  return encoded(StreamLeasesResponse, serverMessage(word))
}

function serverMessage(word: StreamServerMessage): StreamLeasesResponse {
  switch (word.kind) {
    case 'registered':
      return { registered: {} }
    case 'leases':
      return { leases: { tasks: word.leases.map(leaseMessage) } }
    case 'begin':
      return { begin: word.attemptId }
    case 'stop':
      return { stop: { taskId: word.attemptId, reason: STOP_OF[word.why] } }
    case 'order':
      return { order: ORDER_OF[word.order] }
    case 'input':
      return { input: inputMessage(word.input) }
    case 'unknown':
      return {}
  }
}

const SERVER_WORD = {
  name: 'StreamLeasesResponse',
  shape: { 1: {}, 2: { 1: LEASE_SHAPE }, 3: 'text', 4: { 1: 'text', 2: 'number' }, 5: 'number', 6: INPUT_SHAPE },
} as const

export function serverMessageFromProto(bytes: Uint8Array): StreamServerMessage {
  const { registered, leases, begin, stop, order, input } = decodeWellFormed(StreamLeasesResponse, bytes, SERVER_WORD)
  if (registered !== undefined) return { kind: 'registered' }
  if (leases !== undefined) return { kind: 'leases', leases: leases.tasks.map(leaseOf) }
  if (begin !== undefined) return { kind: 'begin', attemptId: begin }
  if (stop !== undefined) return { kind: 'stop', attemptId: stop.taskId, why: STOPS[stop.reason] ?? 'cancelled' }
  if (input !== undefined) return { kind: 'input', input: inputOf(input) }
  const word = ORDERS.get(order ?? 0)
  return word === undefined ? { kind: 'unknown' } : { kind: 'order', order: word }
}

/** What a command printed while it runs. */
export interface StreamOutputPiece {
  readonly worker: string
  readonly attemptId: string
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
  /** How much of the stream was printed before; undefined for a worker that does not count. */
  readonly at: number | undefined
}

export const outputPieceToProto = ({ worker, attemptId, stream, bytes, at }: StreamOutputPiece): Uint8Array =>
  ReportOutputRequest.encode({
    workerId: worker,
    taskId: attemptId,
    data: bytes,
    isError: stream === 'stderr',
    offset: at,
  }).finish()

export function outputPieceFromProto(message: Uint8Array): StreamOutputPiece {
  const named = {
    name: 'ReportOutputRequest',
    shape: { 1: 'text', 2: 'text', 3: 'bytes', 4: 'number', 5: 'number' },
  } as const
  const { workerId, taskId, data, isError, offset } = decodeWellFormed(ReportOutputRequest, message, named)
  if (taskId === '') throw invalid('a piece of output does not say whose it is')
  if (offset !== undefined && offset < 0) throw invalid('a piece of output has a negative offset')
  return { worker: workerId, attemptId: taskId, stream: isError ? 'stderr' : 'stdout', bytes: data, at: offset }
}
