import type { WorkerState } from '../../model/worker-state.ts'

/** What can happen to a worker. */
export type WorkerMove =
  | 'register'
  | 'admit'
  /** Its last slot is taken. */
  | 'fill'
  /** A slot fell free. */
  | 'free'
  | 'degrade'
  | 'recover'
  | 'drain'
  | 'resume'
  /** It left, fell silent or was taken away. */
  | 'lose'

/** A degraded worker is not also called busy: that it gets less work is what matters about it. */
export const WORKER_MOVES: Readonly<Record<WorkerState, Readonly<Partial<Record<WorkerMove, WorkerState>>>>> = {
  OFFLINE: { register: 'REGISTERING' },
  REGISTERING: { admit: 'ONLINE', drain: 'DRAINING', lose: 'OFFLINE' },
  ONLINE: { fill: 'BUSY', degrade: 'DEGRADED', drain: 'DRAINING', lose: 'OFFLINE' },
  BUSY: { free: 'ONLINE', degrade: 'DEGRADED', drain: 'DRAINING', lose: 'OFFLINE' },
  DEGRADED: { recover: 'ONLINE', drain: 'DRAINING', lose: 'OFFLINE' },
  DRAINING: { resume: 'ONLINE', lose: 'OFFLINE' },
}
