import type { Log } from '../../base/log.ts'
import type { WorkerState } from '../../model/worker-state.ts'
import type { TaskLease, WorkerDescription, WorkerSession, WorkerView } from './worker-session.ts'

/** A long poll of a worker that waits for leases. */
export interface Poll {
  /** The maximum number of leases that it accepts. */
  readonly tasks: number
  answer(leases: readonly TaskLease[]): void
}

/** A registered worker and its session. */
export interface SessionLink {
  readonly description: WorkerDescription
  readonly session: WorkerSession
  polls: Poll[]
  state: WorkerState
  what: string
  readonly registeredAt: number
  heardAt: number
  /** Its connection broke, or its heartbeats stopped: the scheduler waits for the disconnect grace. */
  isCutOff: boolean
  /** It unregistered or was preempted: the server does not list it as lost. */
  isLeaving: boolean
  /** Leases that are sent together. */
  batch: TaskLease[]
}

export const newLink = (description: WorkerDescription, session: WorkerSession, now: number): SessionLink => ({
  description,
  session,
  polls: [],
  state: 'OFFLINE',
  what: '',
  registeredAt: now,
  heardAt: now,
  isCutOff: false,
  isLeaving: false,
  batch: [],
})

/** A worker that is cut off shows as offline; the scheduler counts it as lost only after the grace. */
export function viewOfLink(link: SessionLink, leases: number): WorkerView {
  const { description, state, what, registeredAt, heardAt, isCutOff } = link
  const { running: _, ...described } = description
  const view = { ...described, state, what, registeredAt, heardAt, leases }
  return isCutOff ? { ...view, state: 'OFFLINE', what: 'no heartbeat, or no connection', isCutOff } : view
}

/** The number of tasks that the polls of a worker request. */
export const pollsOf = ({ polls }: SessionLink): number => polls.reduce((sum, { tasks }) => sum + tasks, 0)

/** Calls a session. One that throws must not stop the engine: the error is logged and the result is false. */
export function callSession(log: Log, call: () => void): boolean {
  try {
    call()
    return true
  } catch (error) {
    log.error({ error }, 'callback of a door failed')
    return false
  }
}

/** The registered workers and their sessions. */
export interface WorkerLinks {
  readonly size: number
  find(worker: string): SessionLink | undefined
  /** Returns the link that it replaces, which the caller drops. */
  add(link: SessionLink): SessionLink | undefined
  /** Answers the link's polls with no lease and closes its session. */
  drop(link: SessionLink, what?: string): void
  all(): Iterable<SessionLink>
  /** Drops all links. */
  close(what: string): void
}

export function workerLinks(log: Log): WorkerLinks {
  const links = new Map<string, SessionLink>()
  const drop = (link: SessionLink, what = link.what): void => {
    const { worker } = link.description
    if (links.get(worker) === link) links.delete(worker)
    const { polls } = link
    link.polls = []
    for (const { answer } of polls) callSession(log, () => answer([]))
    callSession(log, () => link.session.close(what))
  }
  return {
    get size() {
      return links.size
    },
    find: (worker) => links.get(worker),
    add(link) {
      const before = links.get(link.description.worker)
      links.set(link.description.worker, link)
      return before
    },
    drop,
    all: () => links.values(),
    close(what) {
      for (const link of [...links.values()]) drop(link, what)
    },
  }
}
