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

describe('task messages', () => {
  test('round-trip, with exit code 0 distinct from no exit code', () => {
    for (const task of [TASK, FRESH]) expect(taskFromProto(taskToProto(task))).toEqual(task)
    const page = { tasks: [TASK, FRESH], next: '17' }
    expect(taskPageFromProto(taskPageToProto(page))).toEqual(page)
    expect(taskPageFromProto(taskPageToProto({ tasks: [], next: undefined }))).toEqual({ tasks: [], next: undefined })
    expect(judged('windlass.grid.v1.GetTaskResponse', taskToProto(TASK))).toMatchObject({ task: { exitCode: 0 } })
  })

  test('a task query round-trips, and an empty one has defaults and a limit of 100', () => {
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
    ['a page of negative number of missed bytes', [0x18, ...Array(9).fill(0xff), 1], 'page_size is negative'],
    ['text for a number', [0x1a, 0], 'malformed ListTasksRequest'],
  ])('a task query with %s is refused', (_, bytes, words) => {
    expect(() => taskQueryFromProto(Uint8Array.from(bytes))).toThrow(words)
  })

  test('task names, reasons and follow requests round-trip', () => {
    expect(taskNameFromProto(taskNameToProto('main/operations/x'))).toBe('main/operations/x')
    expect(reasonsFromProto(reasonsToProto(['one', 'two']))).toEqual(['one', 'two'])
    for (const once of [true, false])
      expect(followFromProto(followToProto({ name: 'a', once }))).toEqual({ name: 'a', once })
  })

  test('pieces of output round-trip, and a negative number of missed bytes is refused', () => {
    for (const stream of ['stdout', 'stderr'] as const) {
      const piece = { stream, attempt: 3, bytes: Uint8Array.of(0, 255), missed: 9_000_000_000 }
      expect(printedFromProto(printedToProto(piece))).toEqual(piece)
    }
    expect(() => printedFromProto(Uint8Array.from([0x20, ...Array(9).fill(0xff), 1]))).toThrow(
      'negative number of missed bytes',
    )
  })

  test('a reply without a task or with an unknown state is refused', () => {
    expect(() => taskFromProto(new Uint8Array())).toThrow('there is no task')
    expect(() => taskFromProto(Uint8Array.from([0x0a, 3, 0x2a, 1, 0x78]))).toThrow('is no state')
  })

  test('argvFromProto reads the arguments of a Command', () => {
    expect(argvFromProto(Uint8Array.from([0x0a, 1, 0x61, 0x0a, 0]))).toEqual(['a', ''])
    expect(() => argvFromProto(Uint8Array.from([0x0a, 9]))).toThrow('malformed Command')
  })
})

describe('worker messages', () => {
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

  test('round-trip, and an unknown worker state is refused', () => {
    expect(workersFromProto(workersToProto([worker]))).toEqual([worker])
    expect(workersRequestFromProto(workersRequestToProto())).toBeUndefined()
    expect(() => workersFromProto(Uint8Array.from([0x0a, 3, 0x12, 1, 0x78]))).toThrow('is no state of a worker')
  })

  test('drain and resume requests round-trip', () => {
    expect(drainFromProto(drainToProto({ worker: 'w', shutdown: true }))).toEqual({ worker: 'w', shutdown: true })
    expect(resumeFromProto(resumeToProto('w'))).toBe('w')
    expect(doneFromProto(new Uint8Array())).toBeUndefined()
  })
})

describe('grid figures', () => {
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

  test('round-trip, without unknown task states', () => {
    expect(gridFiguresFromProto(gridFiguresToProto(figures))).toEqual(figures)
    const odd = { ...figures, tasks: { running: 2, queued: 0, odd: 1, toString: 7 } }
    expect(gridFiguresFromProto(gridFiguresToProto(odd)).tasks).toEqual({ running: 2 })
  })

  test('are sent at most twice per second, and by default once per second', () => {
    expect([0, 1, 500, 2000, 2 ** 31 - 1].map((ms) => watchGridFromProto(watchGridToProto(ms)))).toEqual([
      1000, 500, 500, 2000, 3_600_000,
    ])
    expect(() => watchGridFromProto(watchGridToProto(-1))).toThrow('interval_ms is negative')
  })
})
