import type { SignalSource } from '../../app/process/shutdown.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { ExitRequest } from './verdict.ts'

type StopSignal = Parameters<Parameters<SignalSource['on']>[1]>[0]

/** As a shell tells that a signal ended a program. */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 }
const SIGNALS = Object.keys(EXIT_CODES) as StopSignal[]

/**
 * Does something until the person at the terminal has enough: the first signal aborts it, and what it then throws is no
 * fault but the exit code that says which signal it was; a second one leaves at once. Work that ends well all the same
 * is well.
 */
export async function untilStopped<T>(
  { signals }: Pick<Terminal, 'signals'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController()
  let code: number | undefined
  const heed = (signal: StopSignal): void => {
    if (code !== undefined) signals.exit(EXIT_CODES[signal]) // asked twice: no tidying up then
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
