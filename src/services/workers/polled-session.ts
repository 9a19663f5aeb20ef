import type { WorkerOrder, WorkerSession } from '../../engine/workers/worker-session.ts'
import type { HeartbeatAnswer } from '../../wire/workers/heartbeat.ts'
import type { WorkerRegistration } from '../../wire/workers/registration.ts'
import { HeldAttempts } from './leases.ts'

/** The session of a registered worker. It queues messages for the worker's next heartbeat. */
export interface DoorSession extends WorkerSession {
  readonly wantsSpec: boolean
  readonly attempts: HeldAttempts
  /** The engine has removed the worker. */
  readonly isOver: boolean
  answer(): HeartbeatAnswer
}

export interface PolledOptions {
  readonly registration: Pick<WorkerRegistration, 'wantsSpec' | 'running'>
  readonly onOver: (session: DoorSession) => void
  /** Called when the worker should get a message before its next heartbeat, if its protocol can. */
  readonly onMessage?: () => void
}

/**
 * The session of a polling worker: leases are responses to `ask`, and all other messages are sent with its next
 * heartbeat.
 */
export function polledSession({ registration, onOver, onMessage }: PolledOptions): DoorSession {
  const { wantsSpec, running } = registration
  const attempts = new HeldAttempts(running)
  const standing = standingOrders()
  let isOver = false
  const session: DoorSession = {
    wantsSpec,
    attempts,
    get isOver() {
      return isOver || standing.mustRegister
    },
    answer: () => ({ ...standing.answer(), cancel: attempts.toCancel }),
    lease() {
      throw new Error('a worker that polls cannot be sent leases')
    },
    begin() {},
    stop(attemptId, why) {
      attempts.cancel(attemptId, why)
      onMessage?.()
    },
    order(order) {
      standing.take(order)
      onMessage?.()
    },
    close() {
      isOver = true
      onOver(session)
      onMessage?.()
    },
  }
  return session
}

export interface StandingOrders {
  readonly mustRegister: boolean
  take(order: WorkerOrder): void
  answer(): Pick<HeartbeatAnswer, 'drain' | 'shouldShutdown'>
}

/** Orders that apply until the next order. */
export function standingOrders(): StandingOrders {
  let drain = false
  let shouldShutdown = false
  let mustRegister = false
  return {
    get mustRegister() {
      return mustRegister
    },
    take(order) {
      if (order === 'register') mustRegister = true
      else if (order === 'resume') [drain, shouldShutdown] = [false, false]
      else if (order === 'drain') drain = true
      else [drain, shouldShutdown] = [true, true]
    },
    answer: () => ({ drain, shouldShutdown }),
  }
}
