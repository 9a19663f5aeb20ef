import { expect, test } from 'vitest'
import { commandTaskOf } from '../../model/command-task.ts'
import { commandTaskFromProto } from '../../wire/tasks/command-task.ts'
import { commandTaskRequest } from './task-request.ts'

const digest = (digit: string) => ({ fn: 'sha256', hash: digit.repeat(64), size: 9 }) as const
const run = { name: 'run', argv: ['./a.out'], limits: { wallMs: 5000 } }
const order = { instance: 'i', origin: 'snippet' } as const

const IMAGELESS = { name: 'runs-without-image', value: 'yes' }

test('a request has the properties, demands, timeout and roots of its task', () => {
  const task = commandTaskOf({
    stages: [
      { ...run, name: 'compile' },
      { ...run, stdin: { kind: 'blob', digest: digest('c') } },
    ],
    inputs: { root: digest('a'), placed: [{ path: 'x', digest: digest('b'), executable: false, writable: false }] },
    platform: [
      { name: 'OSFamily', value: 'Linux' },
      { name: 'memory', value: '1Gi' },
    ],
    isolation: 'sandbox',
  })
  const submission = commandTaskRequest(task, order)
  expect(submission).toMatchObject({
    instance: 'i',
    origin: 'snippet',
    properties: [
      { name: 'OSFamily', value: 'Linux' },
      { name: 'isolation', value: 'sandbox' },
      { name: 'runs', value: 'command' },
      IMAGELESS,
    ],
    demands: { memoryBytes: 1024 ** 3 },
    timeoutMs: 12_000,
    affinity: [digest('a').hash],
    roots: [digest('a'), digest('b'), digest('c')],
  })
  expect(commandTaskFromProto(submission.spec)).toEqual(task)
  expect(submission).not.toHaveProperty('actionKey')
})

test('a stage without a time limit gives a task without one, unless the door sets it', () => {
  const task = commandTaskOf({
    stages: [
      { ...run, name: 'compile' },
      { name: 'run', argv: ['./a.out'] },
    ],
  })
  expect(commandTaskRequest(task, order)).not.toHaveProperty('timeoutMs')
  expect(commandTaskRequest(task, { ...order, timeoutMs: 7 })).toMatchObject({ timeoutMs: 7 })
})

test('a cacheable task has an action key, which changes with the salt', () => {
  const task = commandTaskOf({ stages: [run], cacheable: true })
  const [plain, salted] = [commandTaskRequest(task, order), commandTaskRequest(task, { ...order, salt: 'gcc 12' })]
  expect(plain).toMatchObject({ cacheable: true, actionKey: expect.stringMatching(/^command:sha256\//) })
  expect(salted.actionKey).not.toBe(plain.actionKey)
  expect(salted).not.toHaveProperty('salt')
})

test('one command with inline files requires runs=plain, any other task runs=command', () => {
  const properties = (task: Parameters<typeof commandTaskOf>[0]) =>
    commandTaskRequest(commandTaskOf(task), order).properties
  expect(properties({ stages: [run] })).toEqual([{ name: 'runs', value: 'plain' }, IMAGELESS])
  expect(properties({ stages: [run, { ...run, name: 'again' }] })).toEqual([
    { name: 'runs', value: 'command' },
    IMAGELESS,
  ])
  expect(properties({ stages: [run], inputs: { root: digest('a') } })).toEqual([
    { name: 'runs', value: 'command' },
    IMAGELESS,
  ])
  expect(commandTaskRequest(commandTaskOf({ stages: [run] }), { ...order, form: 'snippet' }).properties).toEqual([
    { name: 'runs', value: 'snippet' },
    IMAGELESS,
  ])
  expect(properties({ stages: [run], image: 'debian:12' }), 'in an image').toEqual([
    { name: 'container-image', value: 'debian:12' },
    { name: 'runs', value: 'plain' },
  ])
})
