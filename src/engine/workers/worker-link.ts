import type { WorkerState } from '../../model/worker-state.ts'
import type { TaskLease, WorkerDescription, WorkerSession, WorkerView } from './worker-session.ts'

/** A long poll that waits for work. */
export interface Parked {
  readonly tasks: number
  answer(leases: readonly TaskLease[]): void
}

/** A worker that is registered, and the way to it. */
export interface SessionLink {
  readonly description: WorkerDescription
  readonly session: WorkerSession
  parked: Parked[]
  state: WorkerState
  what: string
  readonly registeredAt: number
  heardAt: number
  /** Its connection is gone, or it is silent: it has the disconnect grace to come back. */
  isCutOff: boolean
  /** It unregistered or was preempted: the server does not list it as lost. */
  isLeaving: boolean
  /** Leases that are about to be handed over together. */
  batch: TaskLease[]
}

export const newLink = (description: WorkerDescription, session: WorkerSession, now: number): SessionLink => ({
  description,
  session,
  parked: [],
  state: 'OFFLINE',
  what: '',
  registeredAt: now,
  heardAt: now,
  isCutOff: false,
  isLeaving: false,
  batch: [],
})

/** A worker that is cut off shows as offline; the scheduler counts it as gone only after the grace. */
export function viewOfLink(link: SessionLink, leases: number): WorkerView {
  const { description, state, what, registeredAt, heardAt, isCutOff } = link
  const { running: _, ...said } = description
  const view = { ...said, state, what, registeredAt, heardAt, leases }
  return isCutOff ? { ...view, state: 'OFFLINE', what: 'no heartbeat, or no connection', isCutOff } : view
}

export const askedBy = ({ parked }: SessionLink): number => parked.reduce((sum, { tasks }) => sum + tasks, 0)
