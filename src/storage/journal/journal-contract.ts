import { describe, expect, test } from 'vitest'
import { accepted, finished, leased, requeued, started } from './facts.fixture.ts'
import { find, historyContract, tasksOf, textOf } from './history-contract.ts'
import type { Journal } from './journal.ts'

/** A journal before its recovery, and a function that reopens it after a restart. */
export interface Made {
  readonly journal: Journal
  /** Closes the journal, and opens the same data again. */
  reopen(): Promise<Journal>
}

type Make = () => Promise<Made>

/** The behaviour of every journal, independent of its storage. */
export function journalContract(name: string, make: Make): void {
  describe(`${name}: journal`, () => {
    describe('recover', () => recovering(make))
    describe('recover, offered names', () => remembering(make))
    describe('after a restart', () => goingOn(make))
    describe('record', () => recording(make))
    describe('record, calls', () => calling(make))
    describe('record, end of a task', () => ending(make))
    describe('close', () => closing(make))
    historyContract(() => ready(make))
  })
}

async function ready(make: Make): Promise<Made> {
  const made = await make()
  await made.journal.recover()
  return made
}

function recovering(make: Make): void {
  test('returns unfinished tasks in order of arrival, and no finished one', async () => {
    const { journal, reopen } = await ready(make)
    for (const task of ['z', 'm', 'a', 'q']) await journal.record([accepted(task)], 'process')
    await journal.record([finished('m', undefined)], 'process')
    expect(tasksOf((await (await reopen()).recover()).tasks)).toEqual(['z', 'a', 'q'])
  })

  test('returns every recorded field of a task', async () => {
    const { journal, reopen } = await ready(make)
    const note = Buffer.from('call back')
    const said = {
      note,
      priority: 3,
      actionKey: 'ab/142',
      durability: 'power',
      invocation: 'build-7',
      at: 1234,
    } as const
    await journal.record([accepted('t', { ...said, instance: 'a/b', origin: 'snippet' })], 'power')
    await journal.record([{ kind: 'joined', task: 't', operation: 'operations/second', note, at: 1300 }], 'power')
    await journal.record([{ kind: 'joined', task: 't', operation: 'operations/third', at: 1310 }], 'power')
    await journal.record([{ kind: 'left', task: 't', operation: 'operations/second', at: 1320 }], 'power')
    await journal.record(
      [leased('t', 9, { worker: 'w7' }), started('t', 9), { kind: 'raised', task: 't', priority: -2 }],
      'power',
    )
    await journal.record([{ kind: 'cancel-asked', task: 't', reason: 'no client waits', at: 1400 }], 'power')
    const [task] = (await (await reopen()).recover()).tasks
    expect(task).toEqual({
      task: 't',
      operation: 'operations/t',
      instance: 'a/b',
      invocation: 'build-7',
      origin: 'snippet',
      actionKey: 'ab/142',
      durability: 'power',
      priority: -2,
      acceptedAt: 1234,
      state: 'stopping',
      attempt: 1,
      lease: { worker: 'w7', fencing: { epoch: 1, counter: 9 }, at: 1010, startedAt: 1020 },
      cancel: { reason: 'no client waits', at: 1400 },
      end: undefined,
      spec: expect.anything(),
      lostWorkers: [],
      faults: 0,
      due: undefined,
      requeueReason: undefined,
      operations: [
        { name: 'operations/t', note: expect.anything(), joinedAt: 1234, leftAt: undefined },
        { name: 'operations/second', note: expect.anything(), joinedAt: 1300, leftAt: 1320 },
        { name: 'operations/third', note: undefined, joinedAt: 1310, leftAt: undefined },
      ],
    })
    expect([textOf(task?.spec), textOf(task?.operations[0]?.note)]).toEqual(['spec of t', 'call back'])
  })
}

function remembering(make: Make): void {
  test('returns all property names that were ever offered', async () => {
    const { journal, reopen } = await make()
    expect((await journal.recover()).namesOffered).toEqual([])
    await journal.record([{ kind: 'offered', names: ['OSFamily', 'gpu'] }], 'process')
    await journal.record([accepted('t'), { kind: 'offered', names: ['gpu', '日本'] }], 'process')
    // A failed call persists nothing, offered names included.
    await expect(journal.record([{ kind: 'offered', names: ['lost'] }, accepted('t')], 'process')).rejects.toThrow()
    const { namesOffered, tasks } = await (await reopen()).recover()
    expect([...namesOffered].sort()).toEqual(['OSFamily', 'gpu', '日本'])
    expect(tasksOf(tasks)).toEqual(['t'])
  })

  test('recording no names with durability power, to sync earlier facts, adds nothing', async () => {
    const { journal, reopen } = await make()
    await journal.recover()
    await journal.record([accepted('t')], 'process')
    expect(await journal.record([{ kind: 'offered', names: [] }], 'power')).toEqual([])
    const { namesOffered, tasks } = await (await reopen()).recover()
    expect([namesOffered, tasksOf(tasks)]).toEqual([[], ['t']])
  })
}

function goingOn(make: Make): void {
  test('each recovery has a greater epoch', async () => {
    const { journal, reopen } = await make()
    const { epoch, tasks } = await journal.recover()
    expect(tasks).toEqual([])
    expect(epoch).toBeGreaterThan(0)
    expect((await (await reopen()).recover()).epoch).toBeGreaterThan(epoch)
  })

  test('a retrying task keeps its attempt, lost workers, faults and due time', async () => {
    const { journal, reopen } = await ready(make)
    const lost = {
      state: 'retrying',
      attempt: 2,
      lostWorkers: ['w1', 'w2'],
      faults: 3,
      due: 5000,
      reason: 'it went dark',
    } as const
    await journal.record([accepted('t'), leased('t', 1)], 'process')
    await journal.record([requeued('t', lost)], 'process')
    const [task] = (await (await reopen()).recover()).tasks
    expect(task).toMatchObject({
      state: 'retrying',
      attempt: 2,
      lostWorkers: ['w1', 'w2'],
      faults: 3,
      due: 5000,
      lease: undefined,
    })
    expect(task?.requeueReason).toBe('it went dark')
  })

  test('a result under a lease of the earlier epoch is accepted, unless the task was requeued', async () => {
    const { journal, reopen } = await ready(make)
    await journal.record([accepted('kept'), leased('kept', 1), accepted('lost'), leased('lost', 2)], 'process')
    const again = await reopen()
    await again.recover()
    await again.record([requeued('lost')], 'process')
    expect(await again.record([finished('kept', 1), finished('lost', 2)], 'process')).toEqual(['lost'])
    expect((await find(again, 'operations/kept')).state).toBe('completed')
    expect((await find(again, 'operations/lost')).state).toBe('queued')
  })

  test('earlier tasks are still listed and found', async () => {
    const { journal, reopen } = await ready(make)
    await journal.record([accepted('t'), finished('t', undefined)], 'process')
    const again = await reopen()
    await again.recover()
    await again.record([accepted('u')], 'process')
    expect(tasksOf((await again.list({})).tasks)).toEqual(['u', 't'])
    expect(textOf((await find(again, 'operations/t')).result)).toBe('result of t')
  })
}

function recording(make: Make): void {
  test('facts recorded one by one, in one call or concurrently give the same task', async () => {
    const { journal } = await ready(make)
    const life = (task: string) => [accepted(task), leased(task, 1), started(task, 1), finished(task, 1)]
    for (const fact of life('slow')) await journal.record([fact], 'process')
    await journal.record(life('quick'), 'process')
    await Promise.all(life('turn').map((fact) => journal.record([fact], 'process')))
    const slow = await find(journal, 'operations/slow')
    expect(slow).toMatchObject({ state: 'completed', attempt: 1, end: { state: 'completed', reason: '', at: 1040 } })
    for (const task of ['quick', 'turn']) {
      const { spec, result, ...rest } = await find(journal, `operations/${task}`)
      expect([textOf(spec), textOf(result)]).toEqual([`spec of ${task}`, `result of ${task}`])
      expect({ ...rest, spec: 0, result: 0 }).toEqual({
        ...slow,
        ...{ task, operation: `operations/${task}`, spec: 0, result: 0 },
        operations: [{ ...slow.operations[0], name: `operations/${task}` }],
      })
    }
  })

  test('facts apply in call order, independent of the order of acknowledgement', async () => {
    const { journal } = await ready(make)
    await journal.record([accepted('t')], 'process')
    const priorities = Array.from({ length: 50 }, (_, i) => i)
    await Promise.all(
      priorities.map((priority) =>
        journal.record([{ kind: 'raised', task: 't', priority }], priority % 3 === 0 ? 'power' : 'process'),
      ),
    )
    expect((await find(journal, 'operations/t')).priority).toBe(49)
  })

  test('each fact moves the task to its next state', async () => {
    const { journal } = await ready(make)
    const seen: string[] = []
    const cancel = { kind: 'cancel-asked', task: 't', reason: 'enough', at: 1035 } as const
    const again = { attempt: 2, fencing: { epoch: 2, counter: 1 } }
    const facts = [accepted('t'), leased('t', 1), started('t', 1), requeued('t', { state: 'retrying' }), requeued('t')]
    for (const fact of [...facts, leased('t', 1, again), cancel, finished('t', undefined, { state: 'cancelled' })]) {
      await journal.record([fact], 'process')
      seen.push((await find(journal, 'operations/t')).state)
    }
    expect(seen.join(' ')).toBe('queued assigned running retrying queued assigned stopping cancelled')
  })

  test('a 3 MB spec and any text are stored, and bytes are copied', async () => {
    const { journal } = await ready(make)
    const spec = Buffer.alloc(3_000_000, 7)
    const task = `日本 ${'x'.repeat(3000)} 🏗 '; DROP TABLE tasks; --`
    const done = journal.record([accepted(task, { spec, operation: 'o', instance: '' })], 'process')
    spec.fill(0)
    await done
    await journal.record([finished(task, undefined, { result: new Uint8Array(0) })], 'process')
    const found = await find(journal, 'o')
    expect([found.task, found.instance, found.result?.length]).toEqual([task, '', 0])
    expect(Buffer.from(found.spec).equals(Buffer.alloc(3_000_000, 7))).toBe(true)
  })
}

function calling(make: Make): void {
  test('fails before recover() with a fault of kind bug', async () => {
    const { journal } = await make()
    await expect(journal.record([accepted('t')], 'process')).rejects.toMatchObject({ fault: { kind: 'bug' } })
  })

  test('a call is atomic, and a failed call does not affect others of the same loop turn', async () => {
    const { journal, reopen } = await ready(make)
    await journal.record([accepted('t')], 'process')
    const outcomes = await Promise.allSettled([
      journal.record([accepted('before')], 'power'),
      journal.record([accepted('bad'), { kind: 'joined', task: 'bad', operation: 'operations/t', at: 1 }], 'process'),
      journal.record([accepted('also bad', { operation: 'operations/before' })], 'process'),
      journal.record([accepted('t', { operation: 'other' })], 'process'),
      journal.record([accepted('after'), leased('t', 1)], 'process'),
    ])
    expect(outcomes.map(({ status }) => status).join(' ')).toBe('fulfilled rejected rejected rejected fulfilled')
    expect(outcomes[1]).toMatchObject({ reason: { fault: { kind: 'invalid', why: 'exists' } } })
    expect(await journal.find('operations/bad')).toBeUndefined()
    expect((await find(journal, 'operations/t')).operations).toHaveLength(1)
    expect(tasksOf((await (await reopen()).recover()).tasks)).toEqual(['t', 'before', 'after'])
  })

  test('facts about unknown tasks have no effect', async () => {
    const { journal, reopen } = await ready(make)
    await journal.record([leased('unknown', 1), { kind: 'joined', task: 'unknown', operation: 'o', at: 1 }], 'process')
    expect(await journal.record([], 'power')).toEqual([])
    expect(await journal.find('o')).toBeUndefined()
    expect((await (await reopen()).recover()).tasks).toEqual([])
  })
}

function ending(make: Make): void {
  test('a result with an old fencing number is rejected and stored as superseded', async () => {
    const { journal } = await ready(make)
    await journal.record([accepted('t'), leased('t', 1), requeued('t'), leased('t', 2, { worker: 'w2' })], 'process')
    const old = finished('t', 1, { state: 'failed', reason: 'too late' })
    expect(await journal.record([old], 'process')).toEqual(['t'])
    expect((await find(journal, 'operations/t')).state).toBe('assigned')
    expect(await journal.record([finished('t', 2)], 'process')).toEqual([])
    expect(await find(journal, 'operations/t')).toMatchObject({
      state: 'completed',
      lease: { worker: 'w2' },
      superseded: [{ state: 'failed', fencing: { epoch: 1, counter: 1 }, reason: 'too late', at: 1040 }],
    })
  })

  test('a second result is rejected, in the same call or later, with or without a fencing number', async () => {
    const { journal } = await ready(make)
    const twice = [finished('t', 1), finished('t', 1, { state: 'timeout' })]
    expect(await journal.record([accepted('t'), leased('t', 1), ...twice], 'power')).toEqual(['t'])
    expect(await journal.record([finished('t', undefined, { state: 'cancelled' })], 'power')).toEqual(['t'])
    await journal.record([leased('t', 2), requeued('t'), { kind: 'raised', task: 't', priority: 9 }], 'process')
    const found = await find(journal, 'operations/t')
    expect([found.state, found.priority, found.lease?.fencing.counter]).toEqual(['completed', 0, 1])
    expect(found.superseded.map(({ state }) => state)).toEqual(['timeout', 'cancelled'])
  })

  test('a lease older than the current one is ignored', async () => {
    const { journal } = await ready(make)
    await journal.record([accepted('t'), leased('t', 5, { fencing: { epoch: 2, counter: 5 } })], 'process')
    await journal.record([leased('t', 9, { worker: 'old' }), started('t', 9)], 'process')
    expect(await find(journal, 'operations/t')).toMatchObject({ state: 'assigned', lease: { worker: 'w1' } })
  })
}

function closing(make: Make): void {
  test('waits for pending records, then refuses every call with a fault of kind unavailable', async () => {
    const { journal, reopen } = await ready(make)
    const last = [journal.record([accepted('t')], 'process'), journal.record([accepted('u')], 'power')]
    const closed = journal.close()
    await expect(journal.record([accepted('v')], 'process')).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    await closed
    expect(await Promise.all(last)).toEqual([[], []])
    for (const asked of [journal.find('t'), journal.list({}), journal.forget(0), journal.recover()]) {
      await expect(asked).rejects.toMatchObject({ fault: { kind: 'unavailable' } })
    }
    await journal.close()
    expect(tasksOf((await (await reopen()).recover()).tasks)).toEqual(['t', 'u'])
  })
}
