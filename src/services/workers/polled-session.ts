import type { WorkerOrder, WorkerSession } from '../../engine/workers/worker-session.ts'
import type { HeartbeatAnswer } from '../../wire/workers/heartbeat.ts'
import type { WorkerRegistration } from '../../wire/workers/registration.ts'
import { HeldAttempts } from './held-attempts.ts'

/** A registration as this door knows it: what its worker could not be told yet waits here for the next heartbeat. */
export interface DoorSession extends WorkerSession {
  readonly wantsSpec: boolean
  readonly attempts: HeldAttempts
  /** The grid does not know the worker any more. */
  readonly isOver: boolean
  answer(): HeartbeatAnswer
}

export interface PolledOptions {
  readonly registration: Pick<WorkerRegistration, 'wantsSpec' | 'running'>
  readonly onOver: (session: DoorSession) => void
  /** There is something that the worker should hear before its next heartbeat, if there is a way. */
  readonly onNews?: () => void
}

/** The session of a polling worker: leases are answers to `ask`, all other messages go with its next heartbeat. */
export function polledSession({ registration, onOver, onNews }: PolledOptions): DoorSession {
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
      throw new Error('a worker that asks is not sent leases')
    },
    begin() {},
    stop(attemptId, why) {
      attempts.cancel(attemptId, why)
      onNews?.()
    },
    order(order) {
      standing.take(order)
      onNews?.()
    },
    over() {
      isOver = true
      onOver(session)
      onNews?.()
    },
  }
  return session
}

export interface StandingOrders {
  readonly mustRegister: boolean
  take(order: WorkerOrder): void
  answer(): Pick<HeartbeatAnswer, 'drain' | 'shouldShutdown'>
}

/** The orders that hold until another one comes. */
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
