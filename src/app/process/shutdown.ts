import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'

/** The part of a process that is needed to stop it, so that tests can substitute it. */
export interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  exit(code: number): void
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
export type StopSignal = keyof typeof EXIT_CODES

/**
 * The interval in which a second signal counts as the same one: one Ctrl+C may arrive twice, from the terminal and
 * forwarded by npm.
 */
const ECHO_MS = 50

/** A component that runs until it is stopped. */
export interface Stoppable {
  /** The signal that stops it: SIGTERM usually means that little time is left. */
  stop(signal: StopSignal): Promise<void>
}

export interface ShutdownTools {
  readonly signals: SignalSource
  readonly clock: Clock
  readonly log: Log
}

/**
 * Starts a component, runs until the first signal, then stops it in order and returns. Signals are handled from before
 * the start, because a program that waits for readiness may send one at once. A second signal ends the process
 * immediately, with the exit code of that signal.
 */
export async function runUntilSignal(
  start: () => Promise<Stoppable>,
  { signals, clock, log }: ShutdownTools,
): Promise<void> {
  const names = Object.keys(EXIT_CODES) as StopSignal[]
  const { promise: asked, resolve: ask } = Promise.withResolvers<StopSignal>()
  let askedAt: number | undefined
  const heed = (signal: StopSignal) => {
    if (askedAt === undefined) ask(signal)
    else if (clock.monotonic() - askedAt > ECHO_MS) signals.exit(EXIT_CODES[signal])
    askedAt ??= clock.monotonic()
  }
  for (const signal of names) signals.on(signal, heed)
  try {
    const running = await start()
    const signal = await asked
    log.info({ signal }, 'stopping: running calls may finish, a second signal ends them')
    await running.stop(signal)
    log.info({}, 'stopped')
  } finally {
    for (const signal of names) signals.off(signal, heed)
  }
}
