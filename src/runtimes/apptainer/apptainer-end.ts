import { FaultError } from '../../base/fault.ts'
import type { Limits } from '../../model/command.ts'
import type { LaunchOutcome } from '../run/launch-run.ts'
import { broken, innerExit, mustHaveStarted, notStarted, runEnd } from '../run/run-end.ts'
import type { RunEnd } from '../run/runtime.ts'

/** Apptainer's exit code for its own failures; a command may exit with it, too. */
const FATAL_CODE = 255
/** The line that Apptainer writes to standard error for such a failure. */
const FATAL = /(?:^|\n)FATAL: *([^\n]*)\n?$/
const UNSTARTED: readonly (readonly [RegExp, string])[] = [
  [/executable file not found|^(exec .*: )?no such file or directory$/i, 'ENOENT'],
  [/^(.*: )?permission denied$|is a directory$/i, 'EACCES'],
  [/argument list too long$/i, 'E2BIG'],
  [/exec format error$/i, 'ENOEXEC'],
  [/not a directory$/i, 'ENOTDIR'],
]

/** Apptainer or the machine failed, even if the rest of the line names the command: the image could not be mounted. */
const UNMADE = /^container creation failed/i

/** Exit code 255 is the command's own, unless Apptainer reports its own failure in standard error. */
export function apptainerEnd(outcome: LaunchOutcome, limits: Limits, program: string): RunEnd {
  const { end, stopped, stdout, stderr } = outcome
  mustHaveStarted(end, 'container')
  if (end.kind === 'refused') return runEnd(outcome, limits)
  const { exit } = end
  const wasEnded = stopped !== undefined || exit.over !== undefined || exit.signal !== null
  if (!wasEnded && exit.code === FATAL_CODE && stdout.bytes.length === 0) {
    const [, words] = FATAL.exec(wordsOf(stderr.bytes)) ?? []
    if (words !== undefined) return unmade(words, program)
  }
  return runEnd({ ...outcome, end: { kind: 'exited', exit: innerExit(exit) } }, limits)
}

function unmade(words: string, program: string): RunEnd {
  const [, code] = UNMADE.test(words) ? [] : (UNSTARTED.find(([pattern]) => pattern.test(words)) ?? [])
  if (code === undefined) throw broken('container', words)
  const named = JSON.stringify(program.slice(0, 300))
  return notStarted(
    code,
    code === 'ENOENT' ? `${named} was not found in the image` : `${named} cannot be run: ${words} (${code})`,
  )
}

/** The result of running Apptainer for its own operations (version, pull). */
export function mustHaveWorked({ end, stopped, stderr }: LaunchOutcome, what: string): void {
  if (end.kind === 'exited' && end.exit.code === 0) return
  const words = wordsOf(stderr.bytes).trim().slice(-2000)
  const why = stopped === 'timeout' ? 'it took too long' : end.kind === 'refused' ? end.what : words
  throw new FaultError({ kind: 'unavailable', what: `${what}: ${why || 'it failed without a word'}` })
}

/** Returns the last error line without terminal colours. */
const wordsOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(-10_000))
    .toString()
    .split('\u001b')
    .map((part, i) => (i === 0 ? part : part.replace(/^\[\d*m/, '')))
    .join('')
