import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'

/** The part of a process that is needed to stop it, so that a test can play one. */
export interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  off(signal: StopSignal, listener: (signal: StopSignal) => void): unknown
  exit(code: number): void
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
export type StopSignal = keyof typeof EXIT_CODES

/** One Ctrl+C may come twice, from the terminal and passed on by npm; no person asks again so soon. */
const ECHO_MS = 50

/** Something that runs until it is told to stop. */
export interface Stoppable {
  /** By which signal: SIGTERM mostly means that little time is left. */
  stop(signal: StopSignal): Promise<void>
}

export interface ShutdownTools {
  readonly signals: SignalSource
  readonly clock: Clock
  readonly log: Log
}

/**
 * Starts something, runs until the first signal, then stops it in good order and returns. Signals are heeded from
 * before the start, for whoever is told that we are ready may send one at once. Whoever asks a second time does not
 * want to wait: the process ends there and then, with the code that says which signal it was.
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
    log.info({ signal }, 'stopping: letting calls in hand finish, a second signal ends them')
    await running.stop(signal)
    log.info({}, 'stopped')
  } finally {
    for (const signal of names) signals.off(signal, heed)
  }
}
