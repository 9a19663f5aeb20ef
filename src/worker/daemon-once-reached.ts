import type { Daemon } from './daemon.ts'

/**
 * A daemon that starts when its server can be reached. Until then stopping it only ends the wait; a wait that throws
 * ends it.
 */
export function daemonOnceReached(start: () => Daemon, reach: (signal: AbortSignal) => Promise<void>): Daemon {
  const leaving = new AbortController()
  let daemon: Daemon | undefined
  const started = reach(leaving.signal).then(() => {
    if (!leaving.signal.aborted) daemon = start()
  })
  const ended = started.then(() => daemon?.ended)
  ended.catch(() => {}) // told to whoever asks
  const leave = async (): Promise<Daemon | undefined> => {
    leaving.abort()
    await started.catch(() => {})
    return daemon
  }
  return {
    ended,
    stop: async () => (await leave())?.stop(),
    preempt: async () => (await leave())?.preempt(),
    offerAgain: () => daemon?.offerAgain(),
  }
}
