import type { Limits } from '../../model/command.ts'
import type { LaunchOutcome } from '../run/launch-run.ts'
import { broken, innerExit, mustHaveStarted, notStarted, runEnd } from '../run/run-end.ts'
import type { RunEnd } from '../run/runtime.ts'
import { MADE } from './room-script.ts'

/** The exit codes and messages of the program that starts the command, when it fails. */
const UNSTARTED: ReadonlySet<number | null> = new Set([126, 127])

/** Distinguishes failures of the script from the command's own end. */
export function unshareEnd(outcome: LaunchOutcome, limits: Limits): RunEnd {
  const { end, stopped, stderr } = outcome
  mustHaveStarted(end, 'room')
  if (end.kind === 'refused') return runEnd(outcome, limits)
  const { exit } = end
  const wasEnded = stopped !== undefined || exit.over !== undefined || exit.signal !== null
  const words = UNSTARTED.has(exit.code) || !wasEnded ? Buffer.from(stderr.bytes).toString() : ''
  if (!wasEnded && exit.status?.includes(MADE) !== true) throw broken('room', words)
  const [, program, why] =
    (UNSTARTED.has(exit.code) && /^prlimit: failed to execute (.*): ([^:\n]+)\n$/s.exec(words)) || []
  if (program === undefined) return runEnd({ ...outcome, end: { kind: 'exited', exit: innerExit(exit) } }, limits)
  const named = JSON.stringify(program.slice(0, 300))
  return exit.code === 127
    ? notStarted('ENOENT', `${named} was not found`)
    : notStarted('EACCES', `${named} cannot be run: ${why}`)
}
