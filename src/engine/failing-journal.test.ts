import { describe, expect, test } from 'vitest'
import { FaultError } from '../base/fault.ts'
import { LOCAL_CALLER } from '../model/caller.ts'
import type { Fact } from '../storage/journal/fact.ts'
import type { Journal } from '../storage/journal/journal.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import { openGrid, turns, watchOf } from './grid.fixture.ts'

/** A journal whose disk is full until the test frees it. */
function fillable() {
  const inner = memoryJournal()
  const disk = { isFull: false, refuses: (_facts: readonly Fact[]): boolean => disk.isFull }
  const journal: Journal = {
    ...inner,
    async record(facts, durability) {
      if (disk.refuses(facts)) {
        await turns(1)
        throw new FaultError({ kind: 'exhausted', resource: 'disk space for the journal', retryAfterMs: 5000 })
      }
      return inner.record(facts, durability)
    },
  }
  return { journal, disk, inner }
}

describe('full disk', () => {
  test('workers can register, and the names that they offer are recorded at the next registration', async () => {
    const { journal, disk, inner } = fillable()
    const grid = await openGrid(journal)
    disk.isFull = true
    const gpu = { properties: [{ name: 'GPU', value: 'yes' }] }
    grid.worker('w1', gpu)
    await turns()
    expect((await inner.recover()).namesOffered).toEqual([])
    disk.isFull = false
    grid.worker('w2', gpu)
    await turns()
    expect((await inner.recover()).namesOffered).toEqual(['GPU'])
    expect(await grid.submit(gpu)).toMatchObject({ state: 'assigned' })
  })

  test('a submission is refused as exhausted, and leaves no task and no lease', async () => {
    const { journal, disk } = fillable()
    const grid = await openGrid(journal)
    const w1 = grid.worker('w1')
    disk.isFull = true
    const same = { actionKey: 'k', cacheable: true }
    const both = await Promise.allSettled([grid.submit(same), grid.submit(same)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await turns()
    // The first lease was sent early: its worker is ordered to stop, then its slot is free.
    expect(w1.calls).toEqual([expect.stringContaining('cancelled')])
    await w1.finish(undefined, { outcome: { kind: 'stopped' } })
    expect(grid.engine.figures()).toMatchObject({ queued: 0, active: 0, operations: 0, unsettled: 0 })
    await expect(grid.submit()).rejects.toMatchObject({ fault: { kind: 'exhausted' } }) // refused before a journal write
    expect(w1.leases).toEqual([])
    disk.isFull = false
    await grid.after(251)
    await grid.submit()
    expect(w1.leases).toHaveLength(1)
    expect(grid.engine.figures().journalTrouble).toBeUndefined()
  })

  test('a refused task that may not start early is never sent to a worker', async () => {
    const { journal, disk } = fillable()
    const grid = await openGrid(journal)
    const w1 = grid.worker('w1')
    disk.isFull = true
    await expect(grid.submit({ mayStartEarly: false })).rejects.toThrow('disk space')
    await turns()
    expect([w1.leases, w1.calls]).toEqual([[], []])
    expect(grid.engine.figures()).toMatchObject({ active: 0 })
  })

  test('a result is kept, reported to no watcher, and recorded when the disk has space again', async () => {
    const { journal, disk, inner } = fillable()
    const grid = await openGrid(journal)
    const w1 = grid.worker('w1')
    const { operation } = await grid.submit()
    const watcher = watchOf(grid.engine, operation)
    disk.isFull = true
    w1.start()
    const [lease] = w1.leases
    const applied = w1.finish()
    let isApplied = false
    void applied.then(() => {
      isApplied = true
    })
    for (let i = 0; i < 6; i++) await grid.after(5000)
    expect(watcher.states.at(-1)).toBe('running')
    expect(isApplied).toBe(false)
    const again = w1.finish(lease) // reported again, because no acknowledgement came
    expect(await inner.find(operation)).toMatchObject({ state: 'assigned' })
    expect(grid.engine.figures()).toMatchObject({ unsettled: 1, journalTrouble: expect.stringContaining('disk space') })
    disk.isFull = false
    await grid.after(15_001)
    expect(await Promise.all([applied, again])).toEqual(['applied', 'applied'])
    await turns()
    expect(watcher.states.at(-1)).toBe('completed')
    expect(await inner.find(operation)).toMatchObject({ state: 'completed', lease: { worker: 'w1' } })
    expect(grid.engine.figures()).toMatchObject({ unsettled: 0, journalTrouble: undefined })
  })

  test("the task's current state is recorded later, whichever of its facts was lost", async () => {
    for (const lost of ['leased', 'started', 'requeued', 'cancel-asked', 'finished'] as const) {
      const { journal, disk, inner } = fillable()
      let once = 1
      disk.refuses = (facts) => facts.some(({ kind }) => kind === lost) && once-- > 0
      const grid = await openGrid(journal, { scheduler: { disconnectGraceMs: 10 } })
      const { operation } = await grid.submit()
      const w1 = grid.worker('w1')
      w1.start()
      await turns()
      grid.engine.workers.disconnected('w1', w1.session)
      await grid.after(11)
      const w2 = grid.worker('w2')
      await turns()
      if (lost === 'cancel-asked') await grid.engine.cancel(LOCAL_CALLER, operation).catch(() => {})
      await grid.after(300)
      const finished = w2.finish()
      await turns()
      await grid.after(300)
      expect(await finished).toBe('applied')
      const record = await inner.find(operation)
      expect(record, lost).toMatchObject({
        state: lost === 'cancel-asked' ? 'cancelled' : 'completed',
        lease: { worker: 'w2' },
        attempt: 2,
      })
      expect(record?.superseded).toEqual([])
    }
  })
})
