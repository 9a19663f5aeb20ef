import { expect, test } from 'vitest'
import { type CommandTaskSpec, commandTaskOf, type StageInput } from '../../model/command-task.ts'
import { CommandTask } from '../gen/windlass/task/v1/command.ts'
import { commandTaskFromProto, commandTaskToProto } from '../tasks/command-task.ts'

const PIPES: StageInput = { kind: 'live', terminal: undefined }
const sized = (rows: number, columns: number): StageInput => ({ kind: 'live', terminal: { rows, columns } })
const run = { name: 'run', argv: ['./a.out'] }

test('a live stage round-trips, with and without a terminal', () => {
  for (const stdin of [PIPES, sized(1, 1000)]) {
    const task = commandTaskOf({
      stages: [
        { ...run, name: 'compile' },
        { ...run, stdin },
      ],
    })
    expect(commandTaskFromProto(commandTaskToProto(task))).toEqual(task)
  }
})

test.each<[string, CommandTaskSpec, string]>([
  [
    'two interactive stages',
    {
      stages: [
        { ...run, stdin: PIPES },
        { ...run, name: 'b', stdin: PIPES },
      ],
    },
    'only one stage',
  ],
  ['a terminal without rows', { stages: [{ ...run, stdin: sized(0, 80) }] }, 'from 1 to 1000 rows'],
  ['a terminal as large as a field', { stages: [{ ...run, stdin: sized(24, 1001) }] }, 'from 1 to 1000 rows'],
  ['half a row', { stages: [{ ...run, stdin: sized(1.5, 80) }] }, 'from 1 to 1000 rows'],
  ['one that is kept for others', { stages: [{ ...run, stdin: PIPES }], cacheable: true }, 'cannot be cached'],
])('a live task with %s is refused', (_, spec, words) => {
  expect(() => commandTaskToProto(commandTaskOf(spec))).toThrow(words)
})

test('a stage with both inline and live stdin is refused', () => {
  const message = CommandTask.decode(commandTaskToProto(commandTaskOf({ stages: [{ ...run, stdin: PIPES }] })))
  const stages = message.stages.map((stage) => ({ ...stage, stdin: Uint8Array.of(1) }))
  expect(() => commandTaskFromProto(CommandTask.encode({ ...message, stages }).finish())).toThrow(
    'more than one standard input',
  )
})
