import { expect, test } from 'vitest'
import { TASK_STATES } from '../../model/task-state.ts'
import { WORKER_STATES } from '../../model/worker-state.ts'
import { machineDiagram } from './machine-diagram.ts'
import { TASK_MOVES } from './task-machine.ts'
import { WORKER_MOVES } from './worker-machine.ts'

type Moves = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>

function reachedFrom(start: string, moves: Moves): Set<string> {
  const reached = new Set([start])
  for (const state of reached) for (const next of Object.values(moves[state] ?? {})) if (next) reached.add(next)
  return reached
}

const FINAL = ['completed', 'failed', 'timeout', 'cancelled']

test('every state of a task is reached from pending, and there are no others', () => {
  expect([...reachedFrom('pending', TASK_MOVES)].sort()).toEqual([...TASK_STATES].sort())
})

test('only final states have no moves', () => {
  for (const [state, ways] of Object.entries(TASK_MOVES)) {
    expect(Object.keys(ways).length === 0, state).toBe(FINAL.includes(state))
  }
})

test('every state of a task leads to a final state', () => {
  for (const state of TASK_STATES) {
    const reached = reachedFrom(state, TASK_MOVES)
    expect(
      FINAL.some((end) => reached.has(end)),
      state,
    ).toBe(true)
  }
})

test('a task that is being stopped can only end as cancelled', () => {
  expect([...reachedFrom('stopping', TASK_MOVES)].sort()).toEqual(['cancelled', 'stopping'])
})

test('a task can be cancelled in every state that is not final, or is being cancelled', () => {
  for (const state of TASK_STATES) {
    const cancels = 'cancel' in TASK_MOVES[state]
    expect(cancels, state).toBe(!FINAL.includes(state) && state !== 'stopping')
  }
})

test('every state of a worker is reached from OFFLINE, and OFFLINE from every state', () => {
  expect([...reachedFrom('OFFLINE', WORKER_MOVES)].sort()).toEqual([...WORKER_STATES].sort())
  for (const state of WORKER_STATES) expect(reachedFrom(state, WORKER_MOVES).has('OFFLINE'), state).toBe(true)
})

test('a registered worker can be lost or drained in every state', () => {
  for (const state of WORKER_STATES.filter((one) => one !== 'OFFLINE')) {
    expect(WORKER_MOVES[state].lose, state).toBe('OFFLINE')
    expect(state === 'DRAINING' || WORKER_MOVES[state].drain === 'DRAINING', state).toBe(true)
  }
})

test('the diagram has an arrow for each move', () => {
  const diagram = machineDiagram(TASK_MOVES, 'pending')
  expect(diagram).toContain('[*] --> pending')
  expect(diagram).toContain('running --> stopping : cancel')
  expect(diagram).toContain('cancelled --> [*]')
  const moves = Object.values(TASK_MOVES).flatMap((ways) => Object.keys(ways)).length
  expect(diagram.trim().split('\n')).toHaveLength(2 + moves + FINAL.length)
})
