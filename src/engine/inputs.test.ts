import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import type { InputEvent } from '../model/live-input.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import { LINUX, openGrid, turns } from './grid.fixture.ts'
import type { NumberedInput, TaskLease, WorkerSession } from './workers/worker-session.ts'

const typed = (text: string): InputEvent => ({ kind: 'bytes', bytes: Buffer.from(text) })

/** A worker that records the inputs that it receives. */
async function typingGrid() {
  const grid = await openGrid(memoryJournal())
  const { engine } = grid
  const join = (running?: readonly string[]) => {
    const leases: TaskLease[] = []
    const inputs: string[] = []
    const input = (attemptId: string, { number, event }: NumberedInput): void => {
      const what = event.kind === 'bytes' ? Buffer.from(event.bytes).toString() : event.kind
      inputs.push(`${attemptId} ${number} ${what}`)
    }
    const session: WorkerSession = {
      lease: (given) => void leases.push(...given),
      input,
      begin() {},
      stop() {},
      order() {},
      close() {},
    }
    engine.workers.register({ worker: 'w1', slots: 1, properties: LINUX, ...(running && { running }) }, session)
    return { leases, inputs, session }
  }
  const { operation } = await grid.submit({ interactive: true })
  return { ...grid, join, operation }
}

async function stateOf(promise: Promise<unknown>): Promise<string> {
  let state = 'waits'
  promise.then(
    () => (state = 'taken'),
    (error: { fault: { kind: string } }) => (state = error.fault.kind),
  )
  await turns()
  return state
}

test('input sent before the start is delivered after it, and resolves when the worker acknowledges it', async () => {
  const { engine, join, operation } = await typingGrid()
  const first = engine.input(LOCAL_CALLER, operation, typed('a'))
  const { leases, inputs } = join()
  const [lease] = leases
  const attemptId = lease?.attemptId ?? ''
  expect(inputs).toEqual([])
  engine.workers.started('w1', attemptId)
  const second = engine.input(LOCAL_CALLER, operation, { kind: 'end' })
  expect(inputs).toEqual([`${attemptId} 1 a`, `${attemptId} 2 end`])
  expect([await stateOf(first), await stateOf(second)]).toEqual(['waits', 'waits'])
  engine.workers.inputTaken({ worker: 'w1', attemptId }, 1)
  expect([await stateOf(first), await stateOf(second)]).toEqual(['taken', 'waits'])
  engine.workers.inputTaken({ worker: 'w1', attemptId }, 2)
  expect(await stateOf(second)).toBe('taken')
})

test('a worker that registers again gets the unacknowledged inputs again, with the same numbers', async () => {
  const { engine, join, operation } = await typingGrid()
  const before = join()
  const attemptId = before.leases[0]?.attemptId ?? ''
  engine.workers.started('w1', attemptId)
  for (const key of ['a', 'b', 'c']) void engine.input(LOCAL_CALLER, operation, typed(key))
  engine.workers.inputTaken({ worker: 'w1', attemptId }, 1)
  engine.workers.disconnected('w1', before.session)
  const after = join([attemptId])
  engine.workers.started('w1', attemptId)
  expect(after.inputs).toEqual([`${attemptId} 2 b`, `${attemptId} 3 c`])
})

test('only the worker of the attempt can acknowledge inputs', async () => {
  const { engine, join, operation } = await typingGrid()
  const attemptId = join().leases[0]?.attemptId ?? ''
  engine.workers.started('w1', attemptId)
  const one = engine.input(LOCAL_CALLER, operation, typed('a'))
  engine.workers.inputTaken({ worker: 'w2', attemptId }, 1)
  engine.workers.inputTaken({ worker: 'w1', attemptId: attemptId.replace(/.$/, '9') }, 1)
  expect(await stateOf(one)).toBe('waits')
})

test('input above 1 MiB, or above the limit of unread events, is refused until the worker acknowledges some', async () => {
  const { engine, join, operation } = await typingGrid()
  const attemptId = join().leases[0]?.attemptId ?? ''
  engine.workers.started('w1', attemptId)
  const half: InputEvent = { kind: 'bytes', bytes: Buffer.alloc(512 * 1024) }
  const kept = [engine.input(LOCAL_CALLER, operation, half), engine.input(LOCAL_CALLER, operation, half)]
  expect(await stateOf(engine.input(LOCAL_CALLER, operation, typed('x')))).toBe('exhausted')
  engine.workers.inputTaken({ worker: 'w1', attemptId }, 1)
  expect(await stateOf(engine.input(LOCAL_CALLER, operation, typed('x')))).toBe('waits')
  expect(await Promise.all(kept.map(stateOf))).toEqual(['taken', 'waits'])
  for (let i = 0; i < 5000; i++)
    void engine.input(LOCAL_CALLER, operation, { kind: 'signal', signal: 'SIGINT' }).catch(() => {})
  expect(await stateOf(engine.input(LOCAL_CALLER, operation, { kind: 'end' }))).toBe('exhausted')
})

test('input to an ended task resolves, and input to an unknown task is absent', async () => {
  const { engine, join, operation } = await typingGrid()
  const attemptId = join().leases[0]?.attemptId ?? ''
  engine.workers.started('w1', attemptId)
  const one = engine.input(LOCAL_CALLER, operation, typed('a'))
  await engine.workers.finished({ worker: 'w1', attemptId }, { outcome: { kind: 'result', succeeded: true } })
  expect(await stateOf(one)).toBe('taken')
  expect(await stateOf(engine.input(LOCAL_CALLER, 'nobody', typed('a')))).toBe('absent')
  await expect(
    engine.input(LOCAL_CALLER, operation, { kind: 'resize', size: { rows: 1e9, columns: 1 } }),
  ).rejects.toThrow()
})
