import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CommandResult } from '../../model/command-task.ts'
import { ACCIDENTS, aFunction, damaged, orRefused } from '../messages/messages.fixture.ts'
import { actionResultFromProto, actionResultToProto } from '../reapi/action-result.ts'
import { aCommandResult } from './command-task.fixture.ts'
import { commandResultFromProto, commandResultToProto } from './command-task-result.ts'

test('a command result round-trips', () => {
  const both = aFunction.chain((fn) => aCommandResult(fn).map((result) => ({ fn, result })))
  fc.assert(
    fc.property(both, ({ fn, result }) => {
      expect(commandResultFromProto(commandResultToProto(result), fn)).toEqual(result)
    }),
  )
})

test('a damaged command result is refused, or can be encoded again', () => {
  fc.assert(
    fc.property(damaged(aCommandResult('sha256').map(commandResultToProto)), (bytes) => {
      const read = orRefused(() => commandResultFromProto(bytes, 'sha256'))
      if (read !== undefined) commandResultToProto(read)
    }),
    { numRuns: ACCIDENTS },
  )
})

const digest = (digit: string) => ({ fn: 'sha256', hash: digit.repeat(64), size: 9 }) as const
const nothing = { inline: new Uint8Array(), digest: undefined, droppedBytes: 0, droppedAt: 0 }
const usage = {
  wallMs: 1,
  cpuUserMs: undefined,
  cpuSystemMs: undefined,
  peakMemoryBytes: undefined,
  how: 'sampled',
} as const
const stage = { name: 'run', cause: 'ok', exitCode: 0, signal: undefined, reason: undefined, usage } as const
const result: CommandResult = {
  stages: [{ ...stage, stdout: { ...nothing, inline: undefined, digest: digest('a') }, stderr: nothing }],
  outputs: {
    root: digest('b'),
    files: [{ path: 'out', digest: digest('c'), executable: false }],
    symlinks: [],
    problem: undefined,
  },
  metadata: undefined,
}

test('a command result also reads as an ActionResult that names every blob it needs', () => {
  const { exitCode, outputFiles, outputDirectories } = actionResultFromProto(commandResultToProto(result), 'sha256')
  expect(exitCode).toBe(0)
  expect(outputFiles.map(({ path, digest: { hash } }) => [path, hash[0]])).toEqual([
    ['out', 'c'],
    ['.windlass/run.stdout', 'a'],
  ])
  expect(outputDirectories).toMatchObject([{ path: '', rootDigest: digest('b') }])
})

test('a failed command result has a non-zero exit code as an ActionResult, so that it is not cached', () => {
  const exitCodeOf = (one: CommandResult) => actionResultFromProto(commandResultToProto(one), 'sha256').exitCode
  const [first] = result.stages
  if (first === undefined) throw new Error('no stage')
  expect(exitCodeOf({ ...result, stages: [{ ...first, cause: 'exit', exitCode: 7 }] })).toBe(7)
  expect(exitCodeOf({ ...result, stages: [{ ...first, cause: 'output-limit', exitCode: 0 }] })).toBe(1)
  expect(exitCodeOf({ ...result, outputs: { ...result.outputs, problem: 'a socket' } })).toBe(1)
})

test.each(['../x', 'a/../../x', '', 'a//b', './a'])('a command result with an output at %j is refused', (path) => {
  const files = [{ path, digest: digest('c'), executable: false }]
  const bytes = commandResultToProto({ ...result, outputs: { ...result.outputs, files } })
  expect(() => commandResultFromProto(bytes, 'sha256')).toThrow('not a path from the root')
})

test('an ActionResult is refused as a command result', () => {
  const { exitCode: _, ...rest } = actionResultFromProto(commandResultToProto(result), 'sha256')
  const action = actionResultToProto({ ...rest, exitCode: 0, metadata: undefined })
  expect(() => commandResultFromProto(action, 'sha256')).toThrow('not the result of a command task')
})
