import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CommandTaskSpec, commandTaskOf } from '../../model/command-task.ts'
import { CommandTask } from '../gen/windlass/task/v1/command.ts'
import { ACCIDENTS, aFunction, damaged, encodedAs, judged, orRefused } from '../messages/messages.fixture.ts'
import { actionOfKey } from './action-key.ts'
import { commandKeyOf, commandOfKey } from './command-key.ts'
import { aCommandTask } from './command-task.fixture.ts'
import { commandTaskFromProto, commandTaskToProto } from './command-task.ts'

const run = { name: 'run', argv: ['./a.out'] }
const digest = { fn: 'sha256', hash: 'a'.repeat(64), size: 3 } as const
const place = (at: string) => ({ path: 'out', at, writable: true })
const file = (path: string) => ({ path, contents: new Uint8Array(), executable: false })

test('a command task round-trips', () => {
  fc.assert(
    fc.property(aFunction.chain(aCommandTask), (task) => {
      expect(commandTaskFromProto(commandTaskToProto(task))).toEqual(task)
    }),
  )
})

test('a damaged command task is refused, or another parser reads it too and it round-trips', () => {
  fc.assert(
    fc.property(damaged(aCommandTask('sha256').map(commandTaskToProto)), (torn) => {
      const bytes = Uint8Array.from(torn)
      const read = orRefused(() => commandTaskFromProto(bytes))
      if (read === undefined) return
      expect(judged('windlass.task.v1.CommandTask', bytes).stages).toHaveLength(read.stages.length)
      expect(commandTaskFromProto(commandTaskToProto(read))).toEqual(read)
    }),
    { numRuns: ACCIDENTS },
  )
})

describe('an invalid command task', () => {
  const stage = (more: Partial<CommandTaskSpec['stages'][number]>): CommandTaskSpec => ({
    stages: [{ ...run, ...more }],
  })
  test.each<[string, CommandTaskSpec, string]>([
    ['no stage', { stages: [] }, 'a task has 0 stages'],
    ['nine stages', { stages: Array.from({ length: 9 }, (_, i) => ({ ...run, name: `s${i}` })) }, 'has 9 stages'],
    ['two stages of one name', { stages: [run, run] }, 'the stage "run" comes twice'],
    ['a stage that is named like a path', stage({ name: '../x' }), 'not the name of a stage'],
    ['no program', stage({ argv: [] }), 'the stage run has no program'],
    ['an argument with a NUL', stage({ argv: ['x', 'a\0b'] }), 'is no text'],
    ['an argument that is no Unicode', stage({ argv: ['x', '\ud800'] }), 'is no text'],
    ['a variable with = in its name', stage({ env: [{ name: 'A=B', value: '' }] }), 'name of a variable'],
    ['a limit of nothing', stage({ limits: { wallMs: 0 } }), 'the limit wallMs of the stage run is 0'],
    ['half a process', stage({ limits: { pids: 0.5 } }), 'is 0.5'],
    ['no processor', stage({ limits: { cpus: Number.NaN } }), 'is NaN'],
    ['an input that climbs', { stages: [run], inputs: { files: [file('a/../../b')] } }, 'not a path from the root'],
    ['an absolute input', { stages: [run], inputs: { files: [file('/etc/passwd')] } }, 'not a path from the root'],
    ['an input without a name', { stages: [run], inputs: { files: [file('')] } }, 'not a path from the root'],
    [
      'an input that comes twice',
      { stages: [run], inputs: { files: [file('a')], placed: [{ ...file('a'), digest, writable: false }] } },
      'the input "a" comes twice',
    ],
    ['a working directory elsewhere', { stages: [run], workingDirectory: '..' }, 'not a path from the root'],
    ['an output that climbs', { stages: [run], outputs: { paths: ['../x'] } }, 'not a path from the root'],
    ['a pattern that climbs', { stages: [run], outputs: { globs: ['../*'] } }, 'not a path from the root'],
    ['an output in our place', { stages: [run], outputs: { paths: ['.windlass/run.stdout'] } }, 'reserved directory'],
    ['a pattern for our place', { stages: [run], outputs: { globs: ['.windlass/*'] } }, 'reserved directory'],
    ['patterns without end', { stages: [run], outputs: { globs: ['*a'.repeat(2049)] } }, 'more than 4096 characters'],
    ['more files than are listed', { stages: [run], outputs: { mostFiles: 10_001 } }, 'has 10001 output files'],
    ['a negative size', { stages: [run], outputs: { mostBytes: -1 } }, 'outputs of -1 bytes'],
    ['an image with a blank', { stages: [run], image: 'a b' }, 'not the name of an image'],
    ['a place without an image', { stages: [run], places: [place('/out')] }, 'but no image'],
    ['the words of an image where there is none', stage({ entrypointAt: 0 }), 'but no image'],
    ['a word that is not there', { ...stage({ entrypointAt: 2 }), image: 'a' }, 'has no word 2'],
    ...['/', '/tmp/x', '/proc/self', '/room', 'out', '/a/../b', '/a//b', '/a/', '/a\0'].map(
      (at): [string, CommandTaskSpec, string] => [
        `a place at ${JSON.stringify(at)}`,
        { stages: [run], image: 'a', places: [place(at)] },
        at.includes('\0') ? 'is no text' : 'cannot be shown at',
      ],
    ),
    [
      'one place for two',
      { stages: [run], image: 'a', places: [place('/a'), place('/a')] },
      'the place "/a" comes twice',
    ],
    [
      'a place for what is not in the room',
      { stages: [run], image: 'a', places: [{ ...place('/a'), path: '../x' }] },
      'not a path from the root',
    ],
    ['digests of two functions', { stages: [run], fn: 'blake3', inputs: { root: digest } }, 'two digest functions'],
    [
      'too much of it',
      stage({ stdin: { kind: 'inline', bytes: new Uint8Array(4 * 1024 * 1024) } }),
      'larger inputs go by their digest',
    ],
  ])('with %s is refused by the encoder', (_, wish, words) => {
    expect(() => commandTaskToProto(commandTaskOf(wish))).toThrow(words)
  })

  test.each<[string, Parameters<typeof encodedAs<CommandTask>>[1], string]>([
    ['nothing at all', {}, 'has no field outputs'],
    [
      'an isolation that we do not know',
      { stages: [run], outputs: {}, isolation: 9 as never },
      'number 9 is not a known isolation',
    ],
    [
      'a rule that we do not know',
      { stages: [run], outputs: { symlinks: 7 as never } },
      'is not a known rule for symlinks',
    ],
    [
      'two inputs of one stage',
      {
        stages: [{ ...run, stdin: Buffer.from('x'), stdinDigest: { hash: digest.hash, sizeBytes: 3 } }],
        outputs: {},
      },
      'more than one standard input',
    ],
    ['a negative limit', { stages: [{ ...run, limits: { pids: -4 } }], outputs: {} }, 'is -4'],
  ])('with %s is refused by the decoder', (_, message, words) => {
    expect(() => commandTaskFromProto(encodedAs(CommandTask, message))).toThrow(words)
  })
})

test('the key of a command task depends on every field and on the text that the door adds', () => {
  const keyOf = (task: ReturnType<typeof commandTaskOf>, salt?: string) =>
    commandKeyOf(commandTaskToProto(task), task.fn, salt)
  const task = commandTaskOf({ stages: [run] })
  const keys = [
    keyOf(task),
    keyOf(task, 'gcc 12'),
    keyOf({ ...task, isolation: 'sandbox' }),
    keyOf(commandTaskOf({ stages: [{ ...run, network: true }] })),
  ]
  expect(new Set(keys).size).toBe(4)
  expect(keyOf(commandTaskOf({ stages: [run] }))).toBe(keys[0])
  expect(commandOfKey(keys[0] as string)).toMatchObject({ fn: 'sha256' })
  expect(actionOfKey(keys[0] as string)).toBeUndefined()
})
