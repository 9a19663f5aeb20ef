import { constants } from 'node:os'
import { FaultError } from '../../base/fault.ts'
import type { LaunchExit } from '../launcher/launcher.ts'
import type { LaunchOutcome } from '../run/launch-run.ts'

/** Some have several names, of which the first is the one that everybody knows. */
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name as NodeJS.Signals] as const)
    .reverse(),
)

/**
 * Between us and the command stands the program that made its room, and tells of its end as a shell would: 128 and the
 * number of a signal. So an exit code of 137 is taken for SIGKILL, as engines of containers do.
 */
export function innerExit(exit: LaunchExit): LaunchExit {
  const signal = exit.code === null ? undefined : SIGNALS.get(exit.code - 128)
  return signal === undefined ? exit : { ...exit, code: null, signal }
}

/** What was not started at all, apart from arguments that are too long, is our affair: it is our program that did not. */
export function mustHaveStarted(end: LaunchOutcome['end'], name: string): void {
  if (end.kind === 'refused' && end.code !== 'E2BIG') throw broken(name, end.what)
}

/** The room could not be made. Not the command's fault, and perhaps another worker can. */
export const broken = (name: string, words: string): FaultError =>
  new FaultError({ kind: 'unavailable', what: `the ${name} could not be set up: ${words.trim().slice(0, 500)}` })
