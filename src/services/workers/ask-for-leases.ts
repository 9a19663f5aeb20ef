import type { TaskLease } from '../../engine/workers/worker-session.ts'
import type { WorkerSessions } from './worker-sessions.ts'

export interface LeasePoll {
  readonly worker: string
  readonly tasks: number
  readonly waitMs: number
}

/** The request that waits for leases. */
export interface LeaseAsker {
  readonly cancelled: boolean
  readonly signal: AbortSignal
}

/** Waits until there is work. A cancelled request gets no leases: they are returned. */
export function askForLeases(
  { service, ending }: Pick<WorkerSessions, 'service' | 'ending'>,
  poll: LeasePoll,
  asker: LeaseAsker,
): Promise<readonly TaskLease[]> {
  return new Promise((resolve) => {
    let withdraw = (): void => {}
    const cancel = (): void => {
      for (const signal of [asker.signal, ending]) signal.removeEventListener('abort', cancel)
      withdraw()
      resolve([])
    }
    const answer = (leases: readonly TaskLease[]): void => {
      for (const signal of [asker.signal, ending]) signal.removeEventListener('abort', cancel)
      if (asker.cancelled) for (const { attemptId } of leases) giveBack(attemptId)
      resolve(asker.cancelled ? [] : leases)
    }
    const giveBack = (attemptId: string): void =>
      void service.returned(
        { worker: poll.worker, attemptId },
        { what: 'its worker disconnected before it got the lease' },
      )
    for (const signal of [asker.signal, ending]) signal.addEventListener('abort', cancel, { once: true })
    withdraw = service.ask(poll, answer)
    if (asker.cancelled || ending.aborted) cancel()
  })
}
