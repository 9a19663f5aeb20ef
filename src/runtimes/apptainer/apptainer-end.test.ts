import { expect, test } from 'vitest'
import type { LaunchOutcome } from '../run/launch-run.ts'
import { NO_OUTPUT } from '../run/run-end.ts'
import { apptainerEnd } from './apptainer-end.ts'

/** The end of a program that exited with 255 and wrote this to standard error. */
const saying = (words: string): LaunchOutcome => {
  const usage = { cpuUserMs: 1, cpuSystemMs: 1, peakMemoryBytes: 1, how: 'counted' } as const
  const end = { over: undefined, status: undefined, pidsRefused: false, hasSurvivors: false, usage }
  return {
    end: { kind: 'exited', exit: { code: 255, signal: null, ...end } },
    ...{ stopped: undefined, wallMs: 1, stdout: NO_OUTPUT },
    stderr: { ...NO_OUTPUT, bytes: Buffer.from(words) },
  }
}
const endOf = (words: string) => apptainerEnd(saying(words), {}, 'tool')

test('a missing program ends with exit code 127, and one that may not be executed with 126', () => {
  const absent = '\u001b[31mFATAL:   "tool": executable file not found in $PATH\u001b[0m\n'
  expect(endOf(absent)).toMatchObject({ cause: 'not-started', exitCode: 127 })
  expect(endOf('FATAL:   exec ./tool: permission denied\n')).toMatchObject({ cause: 'not-started', exitCode: 126 })
})

test('a container that cannot be set up throws, also when its message contains "Permission denied"', () => {
  const words =
    'container creation failed: image driver mount failure: squashfuse_ll exited: fuse: failed to open /dev/fuse: Permission denied'
  expect(() => endOf(`FATAL:   ${words}\n`)).toThrow(`the container could not be set up: ${words}`)
})

test('exit code 255 without an Apptainer message is the exit code of the command', () => {
  expect(endOf('it did not work\n')).toMatchObject({ cause: 'exit', exitCode: 255 })
})
