import { expect, test } from 'vitest'
import { type CommandTaskSpec, commandTaskOf, type StageInput } from '../../model/command-task.ts'
import { CommandTask } from '../gen/windlass/task/v1/command.ts'
import { commandTaskFromProto, commandTaskToProto } from '../tasks/command-task.ts'

const PIPES: StageInput = { kind: 'live', terminal: undefined }
const sized = (rows: number, columns: number): StageInput => ({ kind: 'live', terminal: { rows, columns } })
const run = { name: 'run', argv: ['./a.out'] }

test('a stage that is typed to comes back as it went, with a terminal and without', () => {
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
    'two who are typed to',
    {
      stages: [
        { ...run, stdin: PIPES },
        { ...run, name: 'b', stdin: PIPES },
      ],
    },
    'two stages',
  ],
  ['a terminal without rows', { stages: [{ ...run, stdin: sized(0, 80) }] }, 'from 1 to 1000 rows'],
  ['a terminal as large as a field', { stages: [{ ...run, stdin: sized(24, 1001) }] }, 'from 1 to 1000 rows'],
  ['half a row', { stages: [{ ...run, stdin: sized(1.5, 80) }] }, 'from 1 to 1000 rows'],
  ['one that is kept for others', { stages: [{ ...run, stdin: PIPES }], cacheable: true }, 'cannot be cached'],
])('%s is refused', (_, wish, words) => {
  expect(() => commandTaskToProto(commandTaskOf(wish))).toThrow(words)
})

test('a stage that reads a text and is typed to is refused', () => {
  const message = CommandTask.decode(commandTaskToProto(commandTaskOf({ stages: [{ ...run, stdin: PIPES }] })))
  const stages = message.stages.map((stage) => ({ ...stage, stdin: Uint8Array.of(1) }))
  expect(() => commandTaskFromProto(CommandTask.encode({ ...message, stages }).finish())).toThrow('two things at once')
})
