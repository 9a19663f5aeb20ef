import type { Clock } from '../../base/clock.ts'
import type { WorkerService } from '../../engine/workers/worker-service.ts'
import type { WorkerDescription } from '../../engine/workers/worker-session.ts'
import type { KeptStages } from '../execution/kept-stages.ts'
import type { DoorSession } from './polled-session.ts'
import type { ReportCheck } from './report-check.ts'

/** The registrations of one door, shared by all calls of its workers. */
export interface WorkerSessions {
  readonly service: WorkerService
  readonly clock: Clock
  /** The maximum time until a poll for work is answered. */
  readonly longPollMs: number
  /** Aborted when the server is about to stop. */
  readonly ending: AbortSignal
  readonly stages: KeptStages
  readonly checkReport: ReportCheck
  register(description: WorkerDescription, session: DoorSession): Promise<void>
  /** Undefined for a worker that has not registered here, or not since the server's start. */
  sessionOf(worker: string): DoorSession | undefined
  forget(session: DoorSession): void
}

export interface WorkerSessionsOptions {
  readonly service: WorkerService
  readonly clock: Clock
  readonly longPollMs?: number
  /** Results of compile stages; without it every stage is run. */
  readonly stages?: KeptStages
  /** Checks the results of workers; without it only their encoding is validated. */
  readonly checkReport?: ReportCheck
  /**
   * Aborted when the server is about to stop: streams and polls end, because they would keep connections open. The
   * workers do not count as lost: they reconnect with the attempts that they run.
   */
  readonly ending?: AbortSignal
}

const LONG_POLL_MS = 30_000

const NONE_KEPT: KeptStages = { find: async () => undefined, keep: async () => {} }
const NEVER = new AbortController().signal

export function openWorkerSessions(options: WorkerSessionsOptions): WorkerSessions {
  const {
    service,
    clock,
    longPollMs = LONG_POLL_MS,
    ending = NEVER,
    stages = NONE_KEPT,
    checkReport = async () => {},
  } = options
  const sessions = new Map<string, DoorSession>()
  const names = new WeakMap<DoorSession, string>()
  return {
    service,
    clock,
    longPollMs,
    ending,
    stages,
    checkReport,
    async register(description, session) {
      const { worker } = description
      const before = sessions.get(worker)
      // First, because registering answers the old session's polls: their requests must find the new session.
      sessions.set(worker, session)
      names.set(session, worker)
      try {
        await service.register(description, session)
      } catch (error) {
        if (before !== undefined && sessions.get(worker) === session) sessions.set(worker, before)
        else if (sessions.get(worker) === session) sessions.delete(worker)
        throw error
      }
    },
    sessionOf(worker) {
      const session = sessions.get(worker)
      return session?.isOver === true ? undefined : session
    },
    forget(session) {
      const worker = names.get(session)
      if (worker !== undefined && sessions.get(worker) === session) sessions.delete(worker)
    },
  }
}
