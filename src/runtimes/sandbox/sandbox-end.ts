import type { Limits } from '../../model/command.ts'
import { broken, innerExit, mustHaveStarted } from '../namespaces/inner-end.ts'
import type { LaunchOutcome } from '../run/launch-run.ts'
import { notStarted, runEnd } from '../run/run-end.ts'
import type { RunEnd } from '../run/runtime.ts'

/** Bubblewrap's messages for errors of execvp(3). */
const CODES: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'Permission denied': 'EACCES',
  'Not a directory': 'ENOTDIR',
  'Exec format error': 'ENOEXEC',
  'Argument list too long': 'E2BIG',
  'Too many levels of symbolic links': 'ELOOP',
  'File name too long': 'ENAMETOOLONG',
  'Is a directory': 'EACCES',
}

/**
 * Bubblewrap exits with 1 when it cannot make the room, and otherwise with the command's exit code; the status pipe
 * distinguishes the two: it contains an exit code only when the command was started.
 */
export function sandboxEnd(outcome: LaunchOutcome, limits: Limits): RunEnd {
  const { end, stopped } = outcome
  mustHaveStarted(end, 'sandbox')
  if (end.kind === 'refused') return runEnd(outcome, limits)
  const { exit } = end
  const wasEnded = stopped !== undefined || exit.over !== undefined || exit.signal !== null
  if (!wasEnded && exit.status?.includes('"exit-code"') !== true) return unmade(outcome)
  return runEnd({ ...outcome, end: { kind: 'exited', exit: innerExit(exit) } }, limits)
}

function unmade({ stderr }: LaunchOutcome): RunEnd {
  const words = Buffer.from(stderr.bytes).toString()
  const [, program, why = ''] = /^bwrap: execvp (.*): ([^:\n]+)\n?$/s.exec(words) ?? []
  if (program === undefined) throw broken('sandbox', words)
  const code = CODES[why] ?? 'UNKNOWN'
  const named = JSON.stringify(program.slice(0, 300))
  return notStarted(code, code === 'ENOENT' ? `${named} was not found` : `${named} cannot be run: ${why} (${code})`)
}
