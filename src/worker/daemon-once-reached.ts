import type { Daemon } from './daemon.ts'

/**
 * A daemon that starts when its server can be reached. Until then `stop` only ends the wait. An error of the wait ends
 * the daemon.
 */
export function daemonOnceReached(start: () => Daemon, reach: (signal: AbortSignal) => Promise<void>): Daemon {
  const leaving = new AbortController()
  let daemon: Daemon | undefined
  const started = reach(leaving.signal).then(() => {
    if (!leaving.signal.aborted) daemon = start()
  })
  const ended = started.then(() => daemon?.ended)
  ended.catch(() => {}) // reported to each reader of `ended`
  const endWait = async (): Promise<Daemon | undefined> => {
    leaving.abort()
    await started.catch(() => {})
    return daemon
  }
  return {
    ended,
    stop: async () => (await endWait())?.stop(),
    preempt: async () => (await endWait())?.preempt(),
    offerAgain: () => daemon?.offerAgain(),
  }
}
