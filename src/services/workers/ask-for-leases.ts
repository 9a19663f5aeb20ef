import type { TaskLease } from '../../engine/workers/worker-session.ts'
import type { WorkerSessions } from './worker-sessions.ts'

export interface Question {
  readonly worker: string
  readonly tasks: number
  readonly waitMs: number
}

/** The request that waits for leases. */
export interface LeaseAsker {
  readonly cancelled: boolean
  readonly signal: AbortSignal
}

/** Waits until there is work. A request that is cancelled gets nothing, and its leases are returned. */
export function askForLeases(
  { desk, ending }: Pick<WorkerSessions, 'desk' | 'ending'>,
  question: Question,
  asker: LeaseAsker,
): Promise<readonly TaskLease[]> {
  return new Promise((resolve) => {
    let withdraw = (): void => {}
    const hangUp = (): void => {
      for (const signal of [asker.signal, ending]) signal.removeEventListener('abort', hangUp)
      withdraw()
      resolve([])
    }
    const answer = (leases: readonly TaskLease[]): void => {
      for (const signal of [asker.signal, ending]) signal.removeEventListener('abort', hangUp)
      if (asker.cancelled) for (const { attemptId } of leases) giveBack(attemptId)
      resolve(asker.cancelled ? [] : leases)
    }
    const giveBack = (attemptId: string): void =>
      void desk.returned(
        { worker: question.worker, attemptId },
        { what: 'its worker hung up before it was handed over' },
      )
    for (const signal of [asker.signal, ending]) signal.addEventListener('abort', hangUp, { once: true })
    withdraw = desk.ask(question, answer)
    if (asker.cancelled || ending.aborted) hangUp()
  })
}
