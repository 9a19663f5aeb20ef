import {
  HeartbeatRequest,
  HeartbeatResponse,
  UnregisterWorkerRequest,
  WorkerState,
} from '../gen/expbuild/worker/v1/worker_api.ts'
import { decodeWellFormed } from '../messages/well-formed.ts'
import { ATTEMPTS_SHAPE } from './registration.ts'

export interface HeartbeatMessage {
  readonly worker: string
  readonly state: 'idle' | 'busy' | 'draining'
  readonly stats: { readonly active: number; readonly completed: number; readonly failed: number }
  /** All attempts that the worker holds; undefined when the worker does not list them. */
  readonly running: readonly string[] | undefined
  readonly load: number | undefined
  /** The machine of the worker is being preempted. */
  readonly preempted?: boolean
}

export interface HeartbeatAnswer {
  readonly shouldShutdown: boolean
  readonly drain: boolean
  /** Attempts that the worker must stop. */
  readonly cancel: readonly string[]
}

const STATES: readonly HeartbeatMessage['state'][] = ['idle', 'busy', 'draining']
const STATE_OF = { idle: WorkerState.IDLE, busy: WorkerState.BUSY, draining: WorkerState.DRAINING } as const

const REQUEST = {
  name: 'HeartbeatRequest',
  shape: { 1: 'text', 2: 'number', 3: { 1: 'number', 2: 'number', 3: 'number' }, 100: ATTEMPTS_SHAPE, 102: 'number' },
} as const

export function heartbeatFromProto(bytes: Uint8Array): HeartbeatMessage {
  const { workerId, state, stats, running, load, preempted } = decodeWellFormed(HeartbeatRequest, bytes, REQUEST)
  return {
    worker: workerId,
    state: STATES[state] ?? 'busy',
    stats: {
      active: stats?.activeTasks ?? 0,
      completed: stats?.totalCompleted ?? 0,
      failed: stats?.totalFailed ?? 0,
    },
    running: running?.taskIds,
    load: load !== undefined && Number.isFinite(load) ? load : undefined,
    ...(preempted && { preempted }),
  }
}

export const heartbeatToProto = ({
  worker,
  state,
  stats,
  running,
  load,
  preempted = false,
}: HeartbeatMessage): Uint8Array =>
  HeartbeatRequest.encode({
    workerId: worker,
    state: STATE_OF[state],
    stats: { activeTasks: stats.active, totalCompleted: stats.completed, totalFailed: stats.failed },
    running: running && { taskIds: running },
    load,
    preempted,
  }).finish()

export function heartbeatAnswerFromProto(bytes: Uint8Array): HeartbeatAnswer {
  const named = { name: 'HeartbeatResponse', shape: { 1: 'number', 100: 'text', 101: 'number' } } as const
  const { shouldShutdown, cancel, drain } = decodeWellFormed(HeartbeatResponse, bytes, named)
  return { shouldShutdown, cancel, drain }
}

export const heartbeatAnswerToProto = ({ shouldShutdown, cancel, drain }: HeartbeatAnswer): Uint8Array =>
  HeartbeatResponse.encode({ shouldShutdown, cancel, drain }).finish()

export const unregisterFromProto = (bytes: Uint8Array): string =>
  decodeWellFormed(UnregisterWorkerRequest, bytes, { name: 'UnregisterWorkerRequest', shape: { 1: 'text' } }).workerId

export const unregisterToProto = (worker: string): Uint8Array =>
  UnregisterWorkerRequest.encode({ workerId: worker }).finish()
