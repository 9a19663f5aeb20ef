import { describe, expect, test } from 'vitest'
import {
  ATTENDANCE_MOVES,
  isClosed,
  isDurable,
  moveRecord,
  RECORD_MOVES,
  type RecordMove,
  type RecordState,
} from './record-state.ts'

const reachable = (moves: Readonly<Record<string, Readonly<Record<string, string>>>>, first: string): Set<string> => {
  const seen = new Set([first])
  for (const state of seen) for (const next of Object.values(moves[state] ?? {})) seen.add(next)
  return seen
}

const closed = (moves: Readonly<Record<string, object>>): string[] =>
  Object.keys(moves).filter((state) => Object.keys(moves[state] ?? {}).length === 0)

describe('record of a task', () => {
  test('every state can be reached from unrecorded', () => {
    expect([...reachable(RECORD_MOVES, 'unrecorded')].sort()).toEqual(Object.keys(RECORD_MOVES).sort())
  })

  test('only concluded, refused and superseded have no transition', () => {
    expect(closed(RECORD_MOVES).sort()).toEqual(['concluded', 'refused', 'superseded'])
  })

  test('no transition leads from an acknowledged acceptance to one that is not acknowledged', () => {
    for (const [state, moves] of Object.entries(RECORD_MOVES)) {
      if (!isDurable({ record: state as RecordState })) continue
      for (const next of Object.values(moves)) expect(isDurable({ record: next }) || next === 'superseded').toBe(true)
    }
  })

  test('no transition leads from a closed state to an open one', () => {
    for (const [state, moves] of Object.entries(RECORD_MOVES)) {
      if (!isClosed({ record: state as RecordState })) continue
      for (const next of Object.values(moves)) expect(isClosed({ record: next })).toBe(true)
    }
  })

  test.each<[string, readonly RecordMove[], RecordState]>([
    ['a task that ends normally', ['write', 'acknowledge', 'acknowledgeEnd'], 'concluded'],
    ['an end that is acknowledged before the acceptance', ['write', 'acknowledgeEnd', 'acknowledge'], 'concluded'],
    ['an acceptance that fails', ['write', 'refuse'], 'refused'],
    ['a write that fails and succeeds again', ['write', 'acknowledge', 'fail', 'retry', 'acknowledgeEnd'], 'concluded'],
    ['a write that fails before the acceptance is acknowledged', ['write', 'fail', 'acknowledge'], 'unsettled'],
  ])('%s: its moves lead to the expected state', (_, moves, expected) => {
    const task = { record: 'unrecorded' as RecordState }
    for (const move of moves) moveRecord(task, move)
    expect(task.record).toBe(expected)
  })

  test('a transition that is not listed throws', () => {
    expect(() => moveRecord({ record: 'concluded' }, 'write')).toThrow('concluded has no transition write')
  })
})

test('the attendance of an operation reaches every state, and over is the only final one', () => {
  expect([...reachable(ATTENDANCE_MOVES, 'waiting')].sort()).toEqual(Object.keys(ATTENDANCE_MOVES).sort())
  expect(closed(ATTENDANCE_MOVES)).toEqual(['over'])
})
