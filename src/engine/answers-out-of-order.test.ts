/** The journal writes in order but may acknowledge in any order: results must not depend on the order of acknowledgements. */
import { describe, expect, test } from 'vitest'
import { FaultError } from '../base/fault.ts'
import type { Fact } from '../storage/journal/fact.ts'
import type { Journal } from '../storage/journal/journal.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import { openGrid, turns, watchOf } from './grid.fixture.ts'

interface Call {
  readonly kinds: string
  /** Writes the facts and acknowledges them. */
  answer(): Promise<void>
  fail(): Promise<void>
}

/** A journal that acknowledges a call only when the test requests it. */
function slowJournal() {
  const inner = memoryJournal()
  const calls: Call[] = []
  const journal: Journal = {
    ...inner,
    record: (facts: readonly Fact[], durability) =>
      new Promise((resolve, reject) => {
        calls.push({
          kinds: facts.map(({ kind }) => kind).join(' '),
          async answer() {
            resolve(await inner.record(facts, durability))
            await turns()
          },
          async fail() {
            reject(new FaultError({ kind: 'unavailable', what: 'the disk failed' }))
            await turns()
          },
        })
      }),
  }
  const call = (kinds: string): Call => {
    const found = calls.findLast((one) => one.kinds === kinds)
    if (found === undefined) throw new Error(`no call has ${kinds}, but: ${calls.map((one) => one.kinds).join(', ')}`)
    return found
  }
  return { journal, inner, call }
}

const settledOf = (promise: Promise<unknown>) => {
  const seen = { is: 'waiting' }
  promise.then(
    () => {
      seen.is = 'resolved'
    },
    () => {
      seen.is = 'rejected'
    },
  )
  return seen
}

const SAME = { actionKey: 'k', cacheable: true }

describe('journal acknowledgements out of order', () => {
  test('an operation that joined is not acknowledged before the task that it joined', async () => {
    const { journal, call } = slowJournal()
    const grid = await openGrid(journal)
    const [first, second] = [settledOf(grid.submit(SAME)), settledOf(grid.submit(SAME))]
    const accepted = call('accepted')
    await call('joined')
      .answer()
      .catch(() => {})
    expect([first.is, second.is]).toEqual(['waiting', 'waiting'])
    await accepted.answer()
    expect([first.is, second.is]).toEqual(['resolved', 'resolved'])
  })

  test('an operation that joined is refused when the record of its task fails, though its own record succeeded', async () => {
    const { journal, call } = slowJournal()
    const grid = await openGrid(journal)
    const [first, second] = [settledOf(grid.submit(SAME)), settledOf(grid.submit(SAME))]
    await call('joined').answer()
    await call('accepted').fail()
    expect([first.is, second.is]).toEqual(['rejected', 'rejected'])
    expect(grid.engine.figures()).toMatchObject({ queued: 0, operations: 0 })
  })

  test('no watcher is notified of a result whose record failed until the journal has stored it', async () => {
    const { journal, call } = slowJournal()
    const grid = await openGrid(journal)
    const w1 = grid.worker('w1')
    const submitted = settledOf(grid.submit({ operation: 'mine' }))
    const watcher = watchOf(grid.engine, 'mine')
    const finished = settledOf(w1.finish())
    await call('finished').fail()
    await grid.after(251)
    const again = call('raised requeued leased finished')
    expect([submitted.is, finished.is, watcher.states.at(-1)]).toEqual(['waiting', 'waiting', 'running'])
    await call('accepted leased').answer()
    expect([submitted.is, finished.is]).toEqual(['resolved', 'waiting'])
    await again.answer()
    await turns()
    expect([finished.is, watcher.states.at(-1)]).toEqual(['resolved', 'completed'])
  })

  test('a result that the journal acknowledges first is not reported before its task is acknowledged', async () => {
    const { journal, call } = slowJournal()
    const answers: (() => void)[] = []
    const late: Journal = {
      ...journal,
      record: async (facts, durability) => {
        const done = journal.record(facts, durability)
        if (facts[0]?.kind === 'accepted') {
          void call('accepted leased').answer() // written at once, acknowledged late
          await new Promise<void>((resolve) => answers.push(resolve))
        }
        return done
      },
    }
    const grid = await openGrid(late)
    const w1 = grid.worker('w1')
    const submitted = settledOf(grid.submit({ operation: 'mine' }))
    const watcher = watchOf(grid.engine, 'mine')
    const finished = settledOf(w1.finish())
    await call('finished').answer()
    expect([submitted.is, finished.is, watcher.states.at(-1)]).toEqual(['waiting', 'waiting', 'running'])
    for (const answer of answers) answer()
    await turns()
    expect([submitted.is, finished.is, watcher.states.at(-1)]).toEqual(['resolved', 'resolved', 'completed'])
  })

  test('a superseded result is not applied when the record of the newer lease was lost', async () => {
    const { journal, call, inner } = slowJournal()
    const grid = await openGrid(journal)
    const w1 = grid.worker('w1')
    const submitted = grid.submit({ operation: 'mine' })
    await call('accepted leased').answer()
    await submitted
    const [lease] = w1.leases
    grid.engine.workers.returned({ worker: 'w1', attemptId: lease?.attemptId ?? '' }, { what: 'no room' })
    const requeued = call('requeued leased') // w1 has the task again, under attempt 2
    await expect(w1.finish(lease)).resolves.toBe('superseded')
    await requeued.fail()
    await call('raised requeued leased finished').answer()
    expect(await inner.find('mine')).toMatchObject({
      state: 'assigned',
      lease: { fencing: { counter: 2 } },
    })
    expect((await inner.find('mine'))?.superseded).toHaveLength(1)
    await call('raised requeued leased').answer() // the lost record, written again
    const applied = w1.finish()
    await call('finished').answer()
    await expect(applied).resolves.toBe('applied')
    expect(await inner.find('mine')).toMatchObject({ state: 'completed' })
  })
})
