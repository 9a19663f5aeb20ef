import { expect, test } from 'vitest'
import { type CommandTask, commandTaskOf } from '../../model/command-task.ts'
import { memoryActionCache } from '../../storage/memory-action-cache.ts'
import { commandTaskToProto } from '../../wire/tasks/command-task.ts'
import { keptStages } from './kept-stages.ts'

const COMPILE = { name: 'compile', argv: ['cc'], cache: { salt: '', outputs: ['a.out'] } }
const compiling = (argv = ['./a.out']): CommandTask => commandTaskOf({ stages: [COMPILE, { name: 'run', argv }] })

/** Workers and the tasks that they hold. */
function service(held: Readonly<Record<string, CommandTask>>) {
  const results = memoryActionCache()
  return keptStages({
    service: {
      held({ worker, attemptId }) {
        const task = held[`${worker}/${attemptId}`]
        return task && { instance: 'main', origin: 'snippet', spec: commandTaskToProto(task) }
      },
    },
    resultsOf: () => results,
  })
}

const asks = (worker: string, attemptId = 't.1.1', conditions = 'gcc 12') => ({ worker, attemptId, conditions })

test('a stored stage is found by a worker that holds a task with an equal stage and equal conditions', async () => {
  const stages = service({ 'w1/t.1.1': compiling(), 'w2/u.1.2': compiling() })
  await stages.keep({ ...asks('w1'), result: Uint8Array.of(1) })
  expect(await stages.find(asks('w2', 'u.1.2'))).toEqual(Uint8Array.of(1))
  expect(await stages.find(asks('w2', 'u.1.2', 'gcc 13'))).toBeUndefined()
})

test('a worker can only find and store the stage of a task that it holds', async () => {
  const other = commandTaskOf({ stages: [{ ...COMPILE, argv: ['cc', '-O2'] }] })
  const stages = service({ 'w1/t.1.1': compiling(), 'w2/u.1.2': other })
  await stages.keep({ ...asks('w1'), result: Uint8Array.of(1) })
  expect(await stages.find(asks('w2', 'u.1.2'))).toBeUndefined()
  for (const stranger of [asks('w2'), asks('w1', 'u.1.2'), asks('nobody')]) {
    await expect(stages.find(stranger)).rejects.toMatchObject({ fault: { kind: 'absent' } })
    const forged = stages.keep({ ...stranger, result: Uint8Array.of(2) })
    await expect(forged).rejects.toMatchObject({ fault: { kind: 'absent' } })
  }
  expect(await stages.find(asks('w1'))).toEqual(Uint8Array.of(1))
})

test('a task without a cached stage has nothing to find', async () => {
  const stages = service({ 'w1/t.1.1': commandTaskOf({ stages: [{ name: 'run', argv: ['true'] }] }) })
  await expect(stages.find(asks('w1'))).rejects.toMatchObject({ fault: { kind: 'absent' } })
})
