import { describe, expect, test } from 'vitest'
import { accepted, finished, leased, requeued, started } from './facts.fixture.ts'
import { find, historyContract, tasksOf, textOf } from './history-contract.ts'
import type { Journal } from './journal.ts'

/** A journal that nobody has recovered yet, and the way to what it holds after a stop. */
export interface Made {
  readonly journal: Journal
  /** Closes it, and opens what it has left. */
  reopen(): Promise<Journal>
}

type Make = () => Promise<Made>

/** What every journal promises, whatever it keeps facts in. */
export function journalContract(name: string, make: Make): void {
  describe(`${name}: a journal`, () => {
    describe('brings back after a stop', () => recovering(make))
    describe('remembers after a stop', () => remembering(make))
    describe('goes on after a stop', () => goingOn(make))
    describe('takes facts', () => recording(make))
    describe('takes calls', () => calling(make))
    describe('guards the end', () => ending(make))
    describe('closes', () => closing(make))
    historyContract(() => ready(make))
  })
}

async function ready(make: Make): Promise<Made> {
  const made = await make()
  await made.journal.recover()
  return made
}

function recovering(make: Make): void {
  test('open tasks in the order of their arrival, and none that is over', async () => {
    const { journal, reopen } = await ready(make)
    for (const task of ['z', 'm', 'a', 'q']) await journal.record([accepted(task)], 'process')
    await journal.record([finished('m', undefined)], 'process')
    expect(tasksOf((await (await reopen()).recover()).tasks)).toEqual(['z', 'a', 'q'])
  })

  test('all that was said of a task', async () => {
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
    await journal.record([{ kind: 'cancel-asked', task: 't', reason: 'nobody waits', at: 1400 }], 'power')
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
      cancel: { reason: 'nobody waits', at: 1400 },
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
  test('all property names that were ever offered', async () => {
    const { journal, reopen } = await make()
    expect((await journal.recover()).namesOffered).toEqual([])
    await journal.record([{ kind: 'offered', names: ['OSFamily', 'gpu'] }], 'process')
    await journal.record([accepted('t'), { kind: 'offered', names: ['gpu', '日本'] }], 'process')
    // A call that fails has left nothing behind, of names either.
    await expect(journal.record([{ kind: 'offered', names: ['lost'] }, accepted('t')], 'process')).rejects.toThrow()
    const { namesOffered, tasks } = await (await reopen()).recover()
    expect([...namesOffered].sort()).toEqual(['OSFamily', 'gpu', '日本'])
    expect(tasksOf(tasks)).toEqual(['t'])
  })

  test('nothing new, when all that is wanted is that what came before is on the disk', async () => {
    const { journal, reopen } = await make()
    await journal.recover()
    await journal.record([accepted('t')], 'process')
    expect(await journal.record([{ kind: 'offered', names: [] }], 'power')).toEqual([])
    const { namesOffered, tasks } = await (await reopen()).recover()
    expect([namesOffered, tasksOf(tasks)]).toEqual([[], ['t']])
  })
}

function goingOn(make: Make): void {
  test('under a greater epoch each time', async () => {
    const { journal, reopen } = await make()
    const { epoch, tasks } = await journal.recover()
    expect(tasks).toEqual([])
    expect(epoch).toBeGreaterThan(0)
    expect((await (await reopen()).recover()).epoch).toBeGreaterThan(epoch)
  })

  test('with a task that waits for another attempt', async () => {
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

  test('with leases of the epoch before', async () => {
    const { journal, reopen } = await ready(make)
    await journal.record([accepted('kept'), leased('kept', 1), accepted('lost'), leased('lost', 2)], 'process')
    const again = await reopen()
    await again.recover()
    await again.record([requeued('lost')], 'process')
    expect(await again.record([finished('kept', 1), finished('lost', 2)], 'process')).toEqual(['lost'])
    expect((await find(again, 'operations/kept')).state).toBe('completed')
    expect((await find(again, 'operations/lost')).state).toBe('queued')
  })

  test('with its history', async () => {
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
  test('one at a time or all at once, to the same effect', async () => {
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

  test('in the order in which they were given, whichever is told of first', async () => {
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

  test('that follow the states of a task', async () => {
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

  test('of any size, with any text, and keeps its own copy of bytes', async () => {
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
  test('not before it was recovered', async () => {
    const { journal } = await make()
    await expect(journal.record([accepted('t')], 'process')).rejects.toMatchObject({ fault: { kind: 'bug' } })
  })

  test('whole or not at all, and others of the same turn all the same', async () => {
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

  test('about tasks that it does not know, without effect', async () => {
    const { journal, reopen } = await ready(make)
    await journal.record([leased('nobody', 1), { kind: 'joined', task: 'nobody', operation: 'o', at: 1 }], 'process')
    expect(await journal.record([], 'power')).toEqual([])
    expect(await journal.find('o')).toBeUndefined()
    expect((await (await reopen()).recover()).tasks).toEqual([])
  })
}

function ending(make: Make): void {
  test('against a result under another fencing number, and keeps it as superseded', async () => {
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

  test('against a second one, in the same call or later, with a number or without', async () => {
    const { journal } = await ready(make)
    const twice = [finished('t', 1), finished('t', 1, { state: 'timeout' })]
    expect(await journal.record([accepted('t'), leased('t', 1), ...twice], 'power')).toEqual(['t'])
    expect(await journal.record([finished('t', undefined, { state: 'cancelled' })], 'power')).toEqual(['t'])
    await journal.record([leased('t', 2), requeued('t'), { kind: 'raised', task: 't', priority: 9 }], 'process')
    const found = await find(journal, 'operations/t')
    expect([found.state, found.priority, found.lease?.fencing.counter]).toEqual(['completed', 0, 1])
    expect(found.superseded.map(({ state }) => state)).toEqual(['timeout', 'cancelled'])
  })

  test('and leases that are older than the one on record', async () => {
    const { journal } = await ready(make)
    await journal.record([accepted('t'), leased('t', 5, { fencing: { epoch: 2, counter: 5 } })], 'process')
    await journal.record([leased('t', 9, { worker: 'old' }), started('t', 9)], 'process')
    expect(await find(journal, 'operations/t')).toMatchObject({ state: 'assigned', lease: { worker: 'w1' } })
  })
}

function closing(make: Make): void {
  test('when what was recorded is settled, and refuses what comes after', async () => {
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
