import { constants } from 'node:os'
import { FaultError } from '../../base/fault.ts'
import type { LaunchExit } from '../launcher/launcher.ts'
import type { LaunchOutcome } from '../run/launch-run.ts'

/** Some signals have several names; the first is the common one. */
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name as NodeJS.Signals] as const)
    .reverse(),
)

/**
 * The program that makes the room reports the command's end as a shell would: 128 plus the signal number. So exit code
 * 137 counts as SIGKILL, as container engines do.
 */
export function innerExit(exit: LaunchExit): LaunchExit {
  const signal = exit.code === null ? undefined : SIGNALS.get(exit.code - 128)
  return signal === undefined ? exit : { ...exit, code: null, signal }
}

/** A failed start is our failure, except for arguments that are too long: the program that failed to start is ours. */
export function mustHaveStarted(end: LaunchOutcome['end'], name: string): void {
  if (end.kind === 'refused' && end.code !== 'E2BIG') throw broken(name, end.what)
}

/** The room could not be made: not the command's failure, and another worker may succeed. */
export const broken = (name: string, words: string): FaultError =>
  new FaultError({ kind: 'unavailable', what: `the ${name} could not be set up: ${words.trim().slice(0, 500)}` })
