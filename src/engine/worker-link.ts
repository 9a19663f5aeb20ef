import type { WorkerState } from '../model/worker-state.ts'
import { guarded, type Shell } from './shell.ts'
import type { TaskLease, WorkerDescription, WorkerSession } from './worker-session.ts'

/** A long poll that waits for work. */
export interface Parked {
  readonly tasks: number
  answer(leases: readonly TaskLease[]): void
}

/** A worker that is registered, and the way to it. */
export interface WorkerLink {
  readonly description: WorkerDescription
  readonly session: WorkerSession
  parked: Parked[]
  state: WorkerState
  what: string
  readonly registeredAt: number
  heardAt: number
  /** Leases that are about to be handed over together. */
  batch: TaskLease[]
}

export const newLink = (description: WorkerDescription, session: WorkerSession, now: number): WorkerLink => ({
  description,
  session,
  parked: [],
  state: 'OFFLINE',
  what: '',
  registeredAt: now,
  heardAt: now,
  batch: [],
})

export const askedBy = ({ parked }: WorkerLink): number => parked.reduce((sum, { tasks }) => sum + tasks, 0)

/** Nothing goes this way any more. */
export function dropLink(shell: Shell, link: WorkerLink, what = link.what): void {
  if (shell.links.get(link.description.worker) === link) shell.links.delete(link.description.worker)
  const { parked } = link
  link.parked = []
  for (const { answer } of parked) guarded(shell, () => answer([]))
  guarded(shell, () => link.session.over(what))
}
