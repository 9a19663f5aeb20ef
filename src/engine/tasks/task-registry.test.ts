import { expect, test } from 'vitest'
import type { LiveTask, Operation } from './live-task.ts'
import { taskRegistry } from './task-registry.ts'

const registry = () => taskRegistry(36)

const taskOf = (id: string, first: string, ...merged: readonly string[]): LiveTask => {
  const operations = [first, ...merged].map((name) => ({ name }) as Operation)
  return { id, first: operations[0], merged: merged.length > 0 ? operations.slice(1) : undefined } as LiveTask
}

test('task ids contain the epoch and count up', () => {
  const { newTaskId } = registry()
  expect([newTaskId(), newTaskId()]).toEqual(['10-1', '10-2'])
})

test('a task is found by its id and by each of its operations until it is removed', () => {
  const { add, remove, tasks, operations, unwatched } = registry()
  const task = taskOf('t', 'a', 'b')
  add(task)
  unwatched.add(task.first, 1)
  expect([tasks.get('t'), operations.get('b')]).toEqual([task, task.merged?.[0]])
  remove(task)
  expect([tasks.size, operations.size, unwatched.oldest]).toEqual([0, 0, undefined])
})

test('the operation names of a retired task are known until the end of the loop turn', async () => {
  const { add, retire, tasks, operations } = registry()
  const task = taskOf('t', 'a')
  add(task)
  retire(task)
  expect([tasks.has('t'), operations.has('a')]).toEqual([false, true])
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(operations.has('a')).toBe(false)
})
