import { describe, expect, test } from 'vitest'
import { FaultError } from '../base/fault.ts'
import { LOCAL_CALLER } from '../model/caller.ts'
import { answeringLate } from '../storage/journal/answering-late.fixture.ts'
import type { Journal } from '../storage/journal/journal.ts'
import { memoryJournal } from '../storage/journal/memory-journal.ts'
import { folderForTest, openIn } from '../storage/journal/sqlite/sqlite-journal.fixture.ts'
import { randomFrom, seedOfRun } from '../testing/random-source.ts'
import { LINUX, openGrid, text, turns, until, watchOf } from './grid.fixture.ts'

const JOURNALS: Readonly<Record<string, () => Promise<Journal>>> = {
  'in memory': async () => memoryJournal(),
  'that answers late': async () => answeringLate(memoryJournal(), randomFrom(seedOfRun())),
  'in SQLite': () => openIn(folderForTest()),
}

for (const [name, open] of Object.entries(JOURNALS)) {
  describe(`engine over a journal ${name}`, () => {
    test('a task is submitted, leased and run, and its watcher is notified', async () => {
      const grid = await openGrid(await open())
      const w1 = grid.worker('w1')
      const { operation, task, state } = await grid.submit({ instance: 'main', timeoutMs: 5000 })
      expect(state).toBe('assigned')
      const watcher = watchOf(grid.engine, operation)
      expect(w1.leases).toMatchObject([
        { task, operation, attempt: 1, instance: 'main', timeoutMs: 5000, prefetch: false },
      ])
      expect(text(w1.leases[0]?.spec)).toBe('run it')
      await turns()
      w1.start()
      await turns()
      await expect(w1.finish()).resolves.toBe('applied')
      await until(() => watcher.statuses.at(-1)?.end !== undefined)
      expect(watcher.states).toEqual(['assigned', 'running', 'completed'])
      expect(watcher.result).toBe(`result of ${task} by w1`)
      expect(watcher.statuses.at(-1)).toMatchObject({ worker: 'w1', attempt: 1, end: { why: 'result', cached: false } })
    })

    test('a finished task can be found and watched by the name of each operation', async () => {
      const grid = await openGrid(await open())
      const w1 = grid.worker('w1')
      const same = { actionKey: 'abc/1', cacheable: true }
      const [one, other] = await Promise.all([
        grid.submit(same),
        grid.submit({ ...same, note: Buffer.from('call back') }),
      ])
      expect(one.operation).not.toBe(other.operation)
      expect(other.task).toBe(one.task)
      expect(w1.leases).toHaveLength(1)
      await w1.finish()
      for (const { operation } of [one, other]) {
        const found = await grid.engine.find(LOCAL_CALLER, operation)
        expect(found).toMatchObject({ operation, state: 'completed', end: { what: 'it has a result' } })
        const watcher = watchOf(grid.engine, operation)
        await until(() => watcher.statuses.length > 0)
        expect(watcher.result).toBe(`result of ${one.task} by w1`)
      }
      expect(text((await grid.engine.find(LOCAL_CALLER, other.operation))?.note)).toBe('call back')
      expect(await grid.engine.find(LOCAL_CALLER, 'nobody')).toBeUndefined()
      const nobody = watchOf(grid.engine, 'nobody')
      await until(() => nobody.failures.length > 0)
      expect(nobody.failures).toEqual(['absent'])
    })

    test('no watcher is notified of a result before the task and its end are on record', async () => {
      const grid = await openGrid(await open())
      const w1 = grid.worker('w1')
      const submitted = grid.submit({ durability: 'power' })
      await until(() => w1.leases.length === 1) // the task may start early
      const applied = w1.finish()
      const { operation } = await submitted
      await applied
      expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'completed' })
    })
  })
}

test('a task that may not start early is leased only after its record is written', async () => {
  const journal = memoryJournal()
  let letThrough: (() => void) | undefined
  const slow: Journal = {
    ...journal,
    record: async (facts, durability) => {
      if (facts[0]?.kind === 'accepted') await new Promise<void>((resolve) => (letThrough = resolve))
      return journal.record(facts, durability)
    },
  }
  const grid = await openGrid(slow)
  const w1 = grid.worker('w1')
  const submitted = grid.submit({ mayStartEarly: false })
  await turns()
  expect(w1.leases).toEqual([])
  letThrough?.()
  await submitted
  expect(w1.leases).toHaveLength(1)
})

test('the engine copies the spec, note and result: callers may reuse their buffers at once', async () => {
  for (const results of [undefined, { get: async () => void (await turns(2)), put: async () => {} }]) {
    const grid = await openGrid(memoryJournal(), results && { results })
    const w1 = grid.worker('w1')
    const [spec, note, result] = ['spec', 'note', 'result'].map((word) => Buffer.from(word)) as [Buffer, Buffer, Buffer]
    const submitted = grid.submit({ spec, note, actionKey: 'k', cacheable: true })
    spec.fill(0)
    note.fill(0)
    const { operation } = await submitted
    expect(text(w1.leases[0]?.spec)).toBe('spec')
    expect(text((await grid.engine.find(LOCAL_CALLER, operation))?.note)).toBe('note')
    const watcher = watchOf(grid.engine, operation)
    const finished = w1.finish(undefined, { result })
    result.fill(0)
    await finished
    await turns()
    expect(watcher.result).toBe('result')
  }
})

test('a task with durability power is accepted only when its blobs are synced to disk', async () => {
  const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 5 } as const
  let sync: (() => void) | undefined
  const makeDurable = () =>
    new Promise<void>((resolve) => {
      sync = resolve
    })
  const grid = await openGrid(memoryJournal(), { roots: { hold() {}, release() {}, makeDurable } })
  expect(await grid.submit({ roots: [digest] })).toMatchObject({ state: 'queued' }) // durability `process` waits for no sync
  const submitted = grid.submit({ roots: [digest], durability: 'power' })
  await turns()
  expect(grid.engine.figures().queued).toBe(1)
  sync?.()
  const { operation } = await submitted
  const w1 = grid.worker('w1', { slots: 2 })
  const watcher = watchOf(grid.engine, operation)
  const finished = w1.finish(w1.leases[1], { roots: [digest] })
  await turns()
  expect(watcher.states).toEqual(['running'])
  sync?.()
  expect(await finished).toBe('applied')
  await turns()
  expect(watcher.states).toEqual(['running', 'completed'])
})

test('blobs that cannot be synced prevent the acceptance of a task, but not the report of a result', async () => {
  const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 5 } as const
  let isFailing = true
  const makeDurable = async () => {
    if (isFailing) throw new Error('no such disk')
  }
  const grid = await openGrid(memoryJournal(), { roots: { hold() {}, release() {}, makeDurable } })
  await expect(grid.submit({ roots: [digest], durability: 'power' })).rejects.toThrow('no such disk')
  expect(grid.engine.figures().operations).toBe(0)
  isFailing = false
  const { operation } = await grid.submit({ roots: [digest], durability: 'power' })
  isFailing = true
  const watcher = watchOf(grid.engine, operation)
  expect(await grid.worker('w1').finish(undefined, { roots: [digest] })).toBe('applied')
  await turns()
  expect(watcher.states.at(-1)).toBe('completed')
})

test('a watch of an operation that ended with its acknowledgement reads nothing from the journal', async () => {
  const journal = memoryJournal()
  const held: (() => void)[] = []
  const find = () => Promise.reject(new Error('the disk was asked'))
  const grid = await openGrid({
    ...journal,
    find,
    async record(facts, word) {
      await new Promise<void>((resolve) => held.push(resolve))
      return journal.record(facts, word)
    },
  })
  const w1 = grid.worker('w1')
  const told = grid.submit().then(({ operation }) => watchOf(grid.engine, operation))
  await turns()
  const finished = w1.finish()
  for (const answer of held.splice(0)) answer()
  const watcher = await told
  await finished
  await turns()
  expect([watcher.states, watcher.failures]).toEqual([['completed'], []])
  expect([...grid.engine.operations()]).toEqual([])
  expect(grid.engine.figures()).toMatchObject({ operations: 0, watches: 0 })
})

describe('result cache', () => {
  const cacheOf = (held: Record<string, string> = {}) => {
    const put: string[] = []
    return {
      put,
      results: {
        get: async (instance: string, key: string) => {
          const found = held[`${instance}/${key}`]
          return found === undefined ? undefined : Buffer.from(found)
        },
        put: async (instance: string, key: string, result: Uint8Array) => {
          await turns(2)
          put.push(`${instance}/${key} ${text(result)}`)
        },
      },
    }
  }
  const cacheable = { actionKey: 'k', cacheable: true }

  test('a cached result completes the task at once, and its operation can be found later', async () => {
    const grid = await openGrid(memoryJournal(), cacheOf({ 'main/k': 'from before' }))
    const status = await grid.submit(cacheable)
    expect(status).toMatchObject({ state: 'completed', end: { cached: true } })
    expect(text(status.end?.result)).toBe('from before')
    const found = await grid.engine.find(LOCAL_CALLER, status.operation)
    expect(found).toMatchObject({ state: 'completed', attempt: 0, end: { cached: true } })
    expect(text(found?.end?.result)).toBe('from before')
  })

  test('the cache is not read for a task that is not cacheable, or whose caller skips the cache', async () => {
    const grid = await openGrid(memoryJournal(), cacheOf({ 'main/k': 'from before' }))
    expect(await grid.submit({ ...cacheable, skipsCache: true })).toMatchObject({ state: 'queued' })
    expect(await grid.submit({ actionKey: 'k' })).toMatchObject({ state: 'queued' })
    expect(grid.engine.figures().queued).toBe(2) // tasks that are not cacheable are not merged either
  })

  test('only a successful result is stored, and before a watcher is notified', async () => {
    const cache = cacheOf()
    const grid = await openGrid(memoryJournal(), cache)
    const w1 = grid.worker('w1')
    const good = await grid.submit(cacheable)
    const watcher = watchOf(grid.engine, good.operation)
    const seen: number[] = []
    grid.engine.watch(LOCAL_CALLER, good.operation, {
      notify: ({ end }) => void (end && seen.push(cache.put.length)),
      failed() {},
    })
    await w1.finish()
    await turns()
    expect(seen).toEqual([1])
    expect(watcher.states.at(-1)).toBe('completed')
    expect(cache.put).toEqual([`main/k result of ${good.task} by w1`])
    await grid.submit({ ...cacheable, actionKey: 'other' })
    await w1.finish(undefined, { outcome: { kind: 'result', succeeded: false } })
    await grid.submit()
    await w1.finish()
    expect(cache.put).toHaveLength(1)
  })

  test('a failing cache counts as empty, and its task still completes', async () => {
    const broken = { get: () => Promise.reject(new Error('gone')), put: () => Promise.reject(new Error('full')) }
    const grid = await openGrid(memoryJournal(), { results: broken })
    const w1 = grid.worker('w1')
    const { operation } = await grid.submit(cacheable)
    await expect(w1.finish()).resolves.toBe('applied')
    expect(await grid.engine.find(LOCAL_CALLER, operation)).toMatchObject({ state: 'completed' })
  })
})

describe('refused submissions', () => {
  test('a full queue refuses a task as exhausted, with retryAfterMs', async () => {
    const grid = await openGrid(memoryJournal(), { scheduler: { maxQueued: 1 } })
    await grid.submit()
    const error = await grid.submit().catch((thrown) => thrown)
    expect(error).toBeInstanceOf(FaultError)
    expect(error.fault).toMatchObject({ kind: 'exhausted', resource: 'the queue', retryAfterMs: expect.any(Number) })
    expect(grid.engine.figures()).toMatchObject({ queued: 1, operations: 1 })
  })

  test('unknown properties, a spec above specBytes and values that are not numbers are invalid', async () => {
    const scheduler = { refuseUnknownProperties: true }
    const grid = await openGrid(memoryJournal(), { limits: { specBytes: 10 }, scheduler })
    grid.worker('w1')
    const kinds = async (rest: Parameters<typeof grid.submit>[0]) =>
      (await grid.submit(rest).catch((thrown) => thrown)).fault?.kind
    expect(await kinds({ properties: [{ name: 'OSFamlly', value: 'linux' }] })).toBe('invalid')
    expect(await kinds({ spec: Buffer.alloc(11) })).toBe('invalid')
    expect(await kinds({ demands: { cpu: Number.NaN } })).toBe('invalid')
    expect(await kinds({ timeoutMs: Number.POSITIVE_INFINITY })).toBe('invalid')
    expect(await kinds({ priority: Number.NaN })).toBe('invalid')
    expect(await kinds({ instance: 'a/blobs/b' })).toBe('invalid')
    expect(await kinds({ operation: '' })).toBe('invalid')
    expect(await kinds({ invocation: 'x'.repeat(2000) })).toBe('invalid')
    expect(grid.engine.figures().operations).toBe(0)
  })

  test('an operation name in use is refused, before and after that operation finished', async () => {
    const grid = await openGrid(memoryJournal())
    const w1 = grid.worker('w1')
    await grid.submit({ operation: 'mine' })
    await expect(grid.submit({ operation: 'mine' })).rejects.toMatchObject({
      fault: { kind: 'invalid', why: 'exists' },
    })
    await w1.finish()
    await turns() // from here on only the journal has the operation
    await expect(grid.submit({ operation: 'mine' })).rejects.toMatchObject({
      fault: { kind: 'invalid', why: 'exists' },
    })
    await turns()
    // The second task's lease was sent early; it is cancelled, and its slot becomes free.
    expect(w1.calls).toEqual([expect.stringContaining('cancelled')])
    await w1.finish(undefined, { outcome: { kind: 'stopped' } })
    await grid.submit({ properties: LINUX })
    expect(w1.leases).toHaveLength(1)
    expect(grid.engine.figures().journalTrouble).toBeUndefined()
  })
})
