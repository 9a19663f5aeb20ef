import { describe, expect, test } from 'vitest'
import type { GridFigures, TaskView, WorkerInView } from '../../model/grid-view.ts'
import { judged } from '../messages/messages.fixture.ts'
import {
  followFromProto,
  followToProto,
  printedFromProto,
  printedToProto,
  reasonsFromProto,
  reasonsToProto,
  taskFromProto,
  taskNameFromProto,
  taskNameToProto,
  taskPageFromProto,
  taskPageToProto,
  taskQueryFromProto,
  taskQueryToProto,
  taskToProto,
} from './grid.ts'
import { argvFromProto } from './grid-command.ts'
import { gridFiguresFromProto, gridFiguresToProto, watchGridFromProto, watchGridToProto } from './grid-figures.ts'
import {
  doneFromProto,
  drainFromProto,
  drainToProto,
  resumeFromProto,
  resumeToProto,
  workersFromProto,
  workersRequestFromProto,
  workersRequestToProto,
  workersToProto,
} from './grid-workers.ts'

const TASK: TaskView = {
  task: '1-2f',
  operation: '0199-a',
  instance: 'main',
  origin: 'action',
  state: 'completed',
  attempt: 2,
  worker: 'w1',
  acceptedAt: 1_760_000_000_000,
  startedAt: 1_760_000_000_100,
  endedAt: 1_760_000_000_200,
  reason: 'it has a result',
  cached: false,
  exitCode: 0,
  command: ['echo', ''],
  actionDigest: `${'ab'.repeat(32)}/5`,
}

const FRESH: TaskView = {
  ...{ ...TASK, state: 'queued', worker: undefined, startedAt: undefined, endedAt: undefined },
  ...{ exitCode: undefined, command: [], actionDigest: undefined, reason: '' },
}

describe('tasks', () => {
  test('come back as they went, an exit code of 0 and none at all told apart', () => {
    for (const task of [TASK, FRESH]) expect(taskFromProto(taskToProto(task))).toEqual(task)
    const page = { tasks: [TASK, FRESH], next: '17' }
    expect(taskPageFromProto(taskPageToProto(page))).toEqual(page)
    expect(taskPageFromProto(taskPageToProto({ tasks: [], next: undefined }))).toEqual({ tasks: [], next: undefined })
    expect(judged('windlass.grid.v1.GetTaskResponse', taskToProto(TASK))).toMatchObject({ task: { exitCode: 0 } })
  })

  test('a list is asked for with all or nothing said', () => {
    const all = { instance: '', states: ['running', 'queued'] as const, limit: 7, cursor: '5' }
    expect(taskQueryFromProto(taskQueryToProto(all))).toEqual(all)
    expect(taskQueryFromProto(new Uint8Array())).toEqual({
      ...{ instance: undefined, states: [], limit: 100, cursor: undefined },
    })
    expect(taskQueryFromProto(taskQueryToProto({ ...all, limit: 5000 })).limit).toBe(100)
  })

  test.each([
    ['a state that there is not', [0x12, 1, 0x78], '"x" is no state of a task'],
    ['an instance that cannot be', [0x0a, 1, 0x2f], 'the instance name has an empty segment'],
    ['a page of less than nothing', [0x18, ...Array(9).fill(0xff), 1], 'page_size is negative'],
    ['text for a number', [0x1a, 0], 'malformed ListTasksRequest'],
  ])('%s is refused', (_, bytes, words) => {
    expect(() => taskQueryFromProto(Uint8Array.from(bytes))).toThrow(words)
  })

  test('names, reasons and wishes come back as they went', () => {
    expect(taskNameFromProto(taskNameToProto('main/operations/x'))).toBe('main/operations/x')
    expect(reasonsFromProto(reasonsToProto(['one', 'two']))).toEqual(['one', 'two'])
    for (const once of [true, false])
      expect(followFromProto(followToProto({ name: 'a', once }))).toEqual({ name: 'a', once })
  })

  test('pieces of output come back as they went', () => {
    for (const stream of ['stdout', 'stderr'] as const) {
      const piece = { stream, attempt: 3, bytes: Uint8Array.of(0, 255), missed: 9_000_000_000 }
      expect(printedFromProto(printedToProto(piece))).toEqual(piece)
    }
    expect(() => printedFromProto(Uint8Array.from([0x20, ...Array(9).fill(0xff), 1]))).toThrow('less than nothing')
  })

  test('a server that leaves the task out, or makes up a state, is not believed', () => {
    expect(() => taskFromProto(new Uint8Array())).toThrow('there is no task')
    expect(() => taskFromProto(Uint8Array.from([0x0a, 3, 0x2a, 1, 0x78]))).toThrow('is no state')
  })

  test('what a task is about is read from its command', () => {
    expect(argvFromProto(Uint8Array.from([0x0a, 1, 0x61, 0x0a, 0]))).toEqual(['a', ''])
    expect(() => argvFromProto(Uint8Array.from([0x0a, 9]))).toThrow('malformed Command')
  })
})

describe('workers', () => {
  const worker: WorkerInView = {
    worker: 'w1',
    state: 'DRAINING',
    reason: 'asked to',
    slots: 8,
    tasks: 3,
    properties: [
      { name: 'OSFamily', value: 'Linux' },
      { name: 'OSFamily', value: 'linux' },
    ],
    cpu: 1.5,
    memoryBytes: 2 ** 40,
    diskBytes: undefined,
    registeredAt: 1,
    heardAt: 2,
    about: { host: 'h', isolation: 'none' },
  }

  test('come back as they went', () => {
    expect(workersFromProto(workersToProto([worker]))).toEqual([worker])
    expect(workersRequestFromProto(workersRequestToProto())).toBeUndefined()
    expect(() => workersFromProto(Uint8Array.from([0x0a, 3, 0x12, 1, 0x78]))).toThrow('is no state of a worker')
  })

  test('what is wanted of one comes back as it went', () => {
    expect(drainFromProto(drainToProto({ worker: 'w', shutdown: true }))).toEqual({ worker: 'w', shutdown: true })
    expect(resumeFromProto(resumeToProto('w'))).toBe('w')
    expect(doneFromProto(new Uint8Array())).toBeUndefined()
  })
})

describe('figures', () => {
  const figures: GridFigures = {
    now: 1_760_000_000_000,
    queued: 5,
    active: 2,
    tasks: { queued: 5, running: 2 },
    workers: { ONLINE: 1 },
    slots: 2,
    usedSlots: 2,
    accepted: 9_000_000_000,
    ended: 8_999_999_993,
    queues: [{ asksFor: 'OSFamily=linux', queued: 5, active: 2 }],
    journalTrouble: 'disk full',
  }

  test('come back as they went, and no state that we do not know with them', () => {
    expect(gridFiguresFromProto(gridFiguresToProto(figures))).toEqual(figures)
    const odd = { ...figures, tasks: { running: 2, queued: 0, odd: 1, toString: 7 } }
    expect(gridFiguresFromProto(gridFiguresToProto(odd)).tasks).toEqual({ running: 2 })
  })

  test('are told no more than twice a second, and every second if nothing is said', () => {
    expect([0, 1, 500, 2000, 2 ** 31 - 1].map((ms) => watchGridFromProto(watchGridToProto(ms)))).toEqual([
      1000, 500, 500, 2000, 3_600_000,
    ])
    expect(() => watchGridFromProto(watchGridToProto(-1))).toThrow('interval_ms is negative')
  })
})
