import type { WorkerState } from '../../model/worker-state.ts'

/** The moves between states of a worker. */
export type WorkerMove =
  | 'register'
  | 'admit'
  /** Its last free slot is used. */
  | 'fill'
  /** A slot became free. */
  | 'free'
  | 'degrade'
  | 'recover'
  | 'drain'
  | 'resume'
  /** It left, timed out or was preempted. */
  | 'lose'

/** All states and all moves. DEGRADED hides BUSY: a degraded worker gets fewer tasks whether it is full or not. */
export const WORKER_MOVES: Readonly<Record<WorkerState, Readonly<Partial<Record<WorkerMove, WorkerState>>>>> = {
  OFFLINE: { register: 'REGISTERING' },
  REGISTERING: { admit: 'ONLINE', drain: 'DRAINING', lose: 'OFFLINE' },
  ONLINE: { fill: 'BUSY', degrade: 'DEGRADED', drain: 'DRAINING', lose: 'OFFLINE' },
  BUSY: { free: 'ONLINE', degrade: 'DEGRADED', drain: 'DRAINING', lose: 'OFFLINE' },
  DEGRADED: { recover: 'ONLINE', drain: 'DRAINING', lose: 'OFFLINE' },
  DRAINING: { resume: 'ONLINE', lose: 'OFFLINE' },
}
