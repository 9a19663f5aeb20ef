import type { SignalSource } from '../../app/process/shutdown.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { ExitRequest } from './verdict.ts'

type StopSignal = Parameters<Parameters<SignalSource['on']>[1]>[0]

/** As a shell reports a program that a signal ended. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 }
const SIGNALS = Object.keys(EXIT_CODES) as StopSignal[]

/**
 * Runs work until the user interrupts: the first signal aborts it, and an error that it then throws becomes the
 * signal's exit code; a second signal exits at once. Work that succeeds anyway is a success.
 */
export async function untilStopped<T>(
  { signals }: Pick<Terminal, 'signals'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController()
  let code: number | undefined
  const heed = (signal: StopSignal): void => {
    if (code !== undefined) signals.exit(EXIT_CODES[signal]) // second signal: no cleanup
    code = EXIT_CODES[signal]
    leaving.abort()
  }
  for (const signal of SIGNALS) signals.on(signal, heed)
  try {
    return await work(leaving.signal)
  } catch (error) {
    throw code === undefined ? error : new ExitRequest(code)
  } finally {
    for (const signal of SIGNALS) signals.off(signal, heed)
  }
}
