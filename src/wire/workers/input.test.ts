import { expect, test } from 'vitest'
import type { InputEvent } from '../../model/live-input.ts'
import { judged } from '../messages/messages.fixture.ts'
import {
  serverMessageFromProto,
  serverMessageToProto,
  workerMessageFromProto,
  workerMessageToProto,
} from './lease-stream.ts'

const EVENTS: readonly InputEvent[] = [
  { kind: 'bytes', bytes: Uint8Array.of(0, 255, 3) },
  { kind: 'bytes', bytes: new Uint8Array() },
  { kind: 'end' },
  { kind: 'resize', size: { rows: 50, columns: 132 } },
  { kind: 'signal', signal: 'SIGINT' },
]

test('input events round-trip, and another parser reads them too', () => {
  for (const [i, event] of EVENTS.entries()) {
    const word = { kind: 'input', input: { attemptId: 't.1', number: i + 1, event } } as const
    const bytes = serverMessageToProto(word)
    expect(serverMessageFromProto(bytes)).toEqual(word)
    expect(judged('windlass.worker.v1.StreamLeasesResponse', bytes)).toMatchObject({
      message: { case: 'input', value: { taskId: 't.1', number: BigInt(i + 1) } },
    })
  }
  const taken = { kind: 'input-taken', attemptId: 't.1', number: 2 ** 40 } as const
  expect(workerMessageFromProto(workerMessageToProto(taken))).toEqual(taken)
})

test('an unknown input event, an unknown signal and an invalid terminal size read as no event', () => {
  const word = { kind: 'input', input: { attemptId: 't.1', number: 7, event: undefined } } as const
  expect(serverMessageFromProto(serverMessageToProto(word))).toEqual(word)
  const odd: InputEvent[] = [
    { kind: 'signal', signal: 'SIGSEGV' as 'SIGINT' },
    { kind: 'resize', size: { rows: 0, columns: 80 } },
    { kind: 'resize', size: { rows: 24, columns: 100_000 } },
  ]
  for (const event of odd) {
    const bytes = serverMessageToProto({ kind: 'input', input: { attemptId: 't.1', number: 7, event } })
    expect(serverMessageFromProto(bytes)).toEqual(word)
  }
})

test('an input acknowledgement with a number below 1 is refused', () => {
  const nothing = { kind: 'input-taken', attemptId: 't.1', number: 0 } as const
  expect(() => workerMessageFromProto(workerMessageToProto(nothing))).toThrow('numbered from 1')
  expect(() => workerMessageFromProto(workerMessageToProto({ ...nothing, number: -1 }))).toThrow('numbered from 1')
})
