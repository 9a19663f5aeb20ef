/**
 * Many tasks, workers that connect and disconnect, a journal that acknowledges late, and a server that is killed many
 * times. No acknowledged task is lost, and no watcher gets two different ends.
 */
import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import { answeringLate } from '../storage/journal/answering-late.fixture.ts'
import type { Journal } from '../storage/journal/journal.ts'
import { memoryJournal, memoryRecords } from '../storage/journal/memory-journal.ts'
import { folderForTest, openIn } from '../storage/journal/sqlite/sqlite-journal.fixture.ts'
import { type ManualClock, manualClock } from '../testing/manual-clock.ts'
import { type Random, randomFrom, seedOfRun } from '../testing/random-source.ts'
import type { LocalEngine } from './engine.ts'
import { fakeWorker, LINUX, openGrid, requestOf, text, turns } from './grid.fixture.ts'
import type { TaskLease } from './workers/worker-session.ts'

/** The state that clients and workers saw, over all restarts. */
interface World {
  readonly random: Random
  /** Waits for the journal: `count` loop turns for one in memory, `count` milliseconds for one with threads. */
  readonly pause: (count: number) => Promise<void>
  readonly clock: ManualClock
  readonly acknowledged: Set<string>
  readonly ends: Map<string, Set<string>>
  /** The leases that each worker runs: workers outlive the server. */
  readonly running: Map<string, TaskLease[]>
  /** The attempts whose result was applied, by task. */
  readonly applied: Map<string, Set<string>>
}

/** A journal that stops writing and acknowledging when the test kills it. */
function mortal(inner: Journal): { journal: Journal; kill(): void } {
  let isDead = false
  const never = new Promise<never>(() => {})
  return {
    journal: {
      ...inner,
      record: (facts, word) => (isDead ? never : inner.record(facts, word).then((late) => (isDead ? never : late))),
    },
    kill() {
      isDead = true
    },
  }
}

async function oneLife(world: World, inner: Journal, steps: number): Promise<void> {
  const { random, clock } = world
  const { journal, kill } = mortal(inner)
  let isDead = false
  const alive = { ...clock, after: (ms: number, call: () => void) => clock.after(ms, () => isDead || call()) }
  const { engine } = await openGrid(journal, { clock: alive, random: () => random.below(1000) / 1000 })
  for (const operation of world.acknowledged) follow(world, engine, operation)
  for (const worker of world.running.keys()) join(world, engine, worker)
  for (let step = 0; step < steps; step++) {
    act(world, engine)
    if (random.chance(0.5)) await world.pause(1 + random.below(3))
    if (random.chance(0.2)) clock.advance(random.below(3000))
  }
  await world.pause(random.below(10))
  isDead = true
  kill()
}

function act(world: World, engine: LocalEngine): void {
  const { random } = world
  const choice = random.below(100)
  if (choice < 35) submit(world, engine)
  else if (choice < 80) work(world, engine)
  else if (choice < 85) cancel(world, engine)
  else if (choice < 95) {
    const worker = pick(random, [...world.running.keys()])
    const holds = (world.running.get(worker) ?? []).map(({ attemptId }) => attemptId)
    if (!engine.workers.heartbeat(worker, { holds })) join(world, engine, worker)
  } else join(world, engine, pick(random, [...world.running.keys()]))
}

const pick = <T>(random: Random, all: readonly T[]): T => all[random.below(all.length)] as T

function join(world: World, engine: LocalEngine, worker: string): void {
  const leases = world.running.get(worker) ?? []
  const forgets = world.random.chance(0.1)
  if (forgets) leases.length = 0
  const running = leases.map(({ attemptId }) => attemptId)
  const fake = fakeWorker(engine, { worker, slots: 3, properties: LINUX, running })
  fake.leases.push = (...given: TaskLease[]) => leases.push(...given)
}

function submit(world: World, engine: LocalEngine): void {
  const { random } = world
  const merges = random.chance(0.3) && { actionKey: `key-${random.below(5)}`, cacheable: true }
  const durability = random.chance(0.3) ? 'power' : 'process'
  const rest = { ...merges, durability, mayStartEarly: random.chance(0.5), maxRetries: 100 } as const
  engine.submit(LOCAL_CALLER, requestOf(rest)).then(
    ({ operation }) => {
      world.acknowledged.add(operation)
      follow(world, engine, operation)
    },
    () => {},
  )
}

function follow(world: World, engine: LocalEngine, operation: string): void {
  engine.watch(LOCAL_CALLER, operation, {
    notify({ end }) {
      if (end === undefined) return
      const ends = world.ends.get(operation) ?? new Set()
      world.ends.set(operation, ends.add(`${end.state} ${text(end.result)}`))
    },
    failed: ({ fault }) => expect(fault.kind, operation).not.toBe('absent'),
  })
}

function work(world: World, engine: LocalEngine): void {
  const { random } = world
  const worker = pick(random, [...world.running.keys()])
  const leases = world.running.get(worker) ?? []
  const lease = leases.splice(random.below(Math.max(1, leases.length)), 1)[0]
  if (lease === undefined) return
  const { attemptId, task } = lease
  if (random.chance(0.3)) engine.workers.started(worker, attemptId)
  const outcome = random.chance(0.05)
    ? ({ kind: 'fault', what: 'bad luck' } as const)
    : ({ kind: 'result', succeeded: true } as const)
  const result = Buffer.from(`${attemptId} by ${worker}`)
  void engine.workers.finished({ worker, attemptId }, { outcome, result }).then((verdict) => {
    if (verdict !== 'applied' || outcome.kind === 'fault') return
    const applied = world.applied.get(task) ?? new Set()
    world.applied.set(task, applied.add(attemptId))
  })
}

function cancel(world: World, engine: LocalEngine): void {
  const all = [...world.acknowledged]
  if (all.length === 0) return
  engine.cancel(LOCAL_CALLER, pick(world.random, all)).catch(() => {})
}

const seed = seedOfRun()

const makeWorld = (pause: World['pause']): World => ({
  pause,
  random: randomFrom(seed),
  clock: manualClock(),
  acknowledged: new Set(),
  ends: new Map(),
  running: new Map([1, 2, 3, 4].map((number) => [`w${number}`, []])),
  applied: new Map(),
})

/** Without further kills, every acknowledged operation ends. */
async function settle(world: World, inner: Journal): Promise<void> {
  const { engine } = await openGrid(inner, { clock: world.clock })
  for (const operation of world.acknowledged) follow(world, engine, operation)
  for (const worker of world.running.keys()) join(world, engine, worker)
  for (let round = 0; round < 5000 && engine.figures().operations > 0; round++) {
    for (const worker of world.running.keys()) {
      const holds = (world.running.get(worker) ?? []).map(({ attemptId }) => attemptId)
      engine.workers.heartbeat(worker, { holds })
      for (let i = 0; i < 3; i++) work(world, engine)
    }
    await world.pause(3)
    world.clock.advance(5000)
  }
  expect(engine.figures().operations).toBe(0)
  const isTold = (): boolean => [...world.acknowledged].every((operation) => world.ends.has(operation))
  for (let round = 0; round < 5000 && !isTold(); round++) await world.pause(1)
  await engine.close()
}

function judge(world: World): void {
  for (const operation of world.acknowledged) {
    const ends = [...(world.ends.get(operation) ?? [])]
    expect(ends, operation).toHaveLength(1)
  }
  for (const [task, attempts] of world.applied) expect([...attempts], task).toHaveLength(1)
}

test(`no acknowledged task is lost and no result is applied twice, over 25 kills (seed ${seed})`, async () => {
  const world = makeWorld(turns)
  const records = memoryRecords()
  for (let life = 0; life < 25; life++) {
    await oneLife(world, answeringLate(memoryJournal(records), world.random), 20 + world.random.below(60))
  }
  await settle(world, answeringLate(memoryJournal(records), world.random))
  expect(world.acknowledged.size).toBeGreaterThan(100)
  judge(world)
})

test(`no acknowledged task is lost and no result is applied twice, over SQLite (seed ${seed})`, async () => {
  const world = makeWorld((ms) => new Promise((resolve) => setTimeout(resolve, ms)))
  const folder = folderForTest()
  for (let life = 0; life < 6; life++) {
    const journal = await openIn(folder)
    await oneLife(world, answeringLate(journal, world.random), 20 + world.random.below(60))
    await journal.close()
  }
  await settle(world, await openIn(folder))
  expect(world.acknowledged.size).toBeGreaterThan(20)
  judge(world)
})
