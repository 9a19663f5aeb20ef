import type { Limits } from '../../model/command.ts'
import type { LaunchOutcome } from '../run/launch-run.ts'
import { innerExit, notStarted, runEnd } from '../run/run-end.ts'
import type { RunEnd } from '../run/runtime.ts'

/**
 * Messages of the programs that start commands in containers (Docker's tini, Podman's catatonit, runc, crun) when they
 * fail.
 */
const UNSTARTED = [
  /^\[FATAL tini \(\d+\)\] exec (.*) failed: ([^:\n]+)\n$/s,
  /^exec \S*(): (argument list too long)\n$/,
  /catatonit[^\n]*?: failed to exec pid1()[^\n]*?: ([^:\n]+)\n$/s,
]
const CODES: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'Permission denied': 'EACCES',
  'Not a directory': 'ENOTDIR',
  'Exec format error': 'ENOEXEC',
  'Argument list too long': 'E2BIG',
  'argument list too long': 'E2BIG',
  'Too many levels of symbolic links': 'ELOOP',
  'File name too long': 'ENAMETOOLONG',
}
/** The exit codes of those programs when they failed to start the command. */
const THEIR_CODES: ReadonlySet<number | null> = new Set([1, 126, 127, 255])

/** Distinguishes a command that could not be started from one that ran. */
export function containerEnd(outcome: LaunchOutcome, limits: Limits, program: string): RunEnd {
  const { end, stopped, stdout, stderr } = outcome
  if (end.kind === 'refused') return runEnd(outcome, limits)
  const { exit } = end
  const mayBeUnstarted = stopped === undefined && exit.over === undefined && THEIR_CODES.has(exit.code)
  if (mayBeUnstarted && stdout.bytes.length === 0) {
    const words = Buffer.from(stderr.bytes.subarray(-10_000)).toString()
    const why = UNSTARTED.map((pattern) => pattern.exec(words)?.[2]).find((each) => each !== undefined)
    if (why !== undefined) return unstarted(program, why)
  }
  return runEnd({ ...outcome, end: { kind: 'exited', exit: innerExit(exit) } }, limits)
}

function unstarted(program: string, why: string): RunEnd {
  const code = CODES[why] ?? 'EACCES'
  const named = JSON.stringify(program.slice(0, 300))
  return notStarted(
    code,
    code === 'ENOENT' ? `${named} was not found in the image` : `${named} cannot be run: ${why} (${code})`,
  )
}
