/**
 * Only the worker that holds a lease can change its task. Random histories of submissions, workers, reports and
 * restarts contain messages from workers that do not hold the lease that they name: each must be rejected, and the
 * record of every task must be the same before and after it.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import { type MemoryRecords, memoryJournal, memoryRecords } from '../storage/journal/memory-journal.ts'
import { type ManualClock, manualClock } from '../testing/manual-clock.ts'
import { seedOfRun } from '../testing/random-source.ts'
import { type FakeWorker, fakeWorker, type Grid, LINUX, openGrid, requestOf, turns } from './grid.fixture.ts'
import type { AttemptReport } from './workers/worker-session.ts'

const seed = seedOfRun()
const WORKERS = ['w1', 'w2', 'w3']

const MESSAGES = [
  'started',
  'result',
  'timeout',
  'stopped',
  'fault',
  'hopeless',
  'returned',
  'output',
  'lists',
] as const
type Message = (typeof MESSAGES)[number]

type Step =
  | { readonly kind: 'submit' | 'restart' | 'wait' }
  | { readonly kind: 'register' | 'start' | 'finish' | 'return' | 'lose'; readonly worker: number }
  | { readonly kind: 'foreign'; readonly worker: number; readonly attempt: number; readonly message: Message }

const worker = fc.nat({ max: WORKERS.length - 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('submit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('restart' as const, 'wait' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'register' as const,
        'start' as const,
        'finish' as const,
        'return' as const,
        'lose' as const,
      ),
      worker,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('foreign' as const),
      worker,
      attempt: fc.nat(),
      message: fc.constantFrom(...MESSAGES),
    }),
  },
)

/** The state outside the server: it survives a restart. */
interface World {
  readonly records: MemoryRecords
  readonly clock: ManualClock
  grid: Grid
  readonly workers: Map<string, FakeWorker>
  readonly operations: string[]
  /** The worker that each attempt was leased to. */
  readonly leasedTo: Map<string, string>
}

async function start(world: Pick<World, 'records' | 'clock'>): Promise<Grid> {
  return await openGrid(memoryJournal(world.records), { clock: world.clock })
}

function register(world: World, id: string): void {
  const running = world.workers.get(id)?.leases ?? []
  const again = fakeWorker(world.grid.engine, {
    worker: id,
    slots: 2,
    properties: LINUX,
    running: running.map(({ attemptId }) => attemptId),
  })
  again.leases.unshift(...running)
  world.workers.set(id, again)
}

async function act(world: World, one: Step): Promise<void> {
  const { grid, workers } = world
  if (one.kind === 'submit') world.operations.push((await grid.engine.submit(LOCAL_CALLER, requestOf())).operation)
  else if (one.kind === 'wait') await grid.after(1500)
  else if (one.kind === 'restart') {
    await grid.engine.close()
    world.grid = await start(world)
  } else if (one.kind === 'foreign') await foreign(world, one)
  else if ('worker' in one) holderActs(world, WORKERS[one.worker] as string, one.kind)
  await turns()
  for (const { id, leases } of workers.values())
    for (const { attemptId } of leases) if (!world.leasedTo.has(attemptId)) world.leasedTo.set(attemptId, id)
}

function holderActs(world: World, worker: string, kind: Step['kind']): void {
  const { workers: service } = world.grid.engine
  const held = world.workers.get(worker)
  const attemptId = held?.leases[0]?.attemptId
  if (kind === 'register') register(world, worker)
  if (kind === 'register' || held === undefined || attemptId === undefined) return
  if (kind === 'lose') service.unregister(worker)
  else if (kind === 'start') service.started(worker, attemptId)
  else if (kind === 'return') service.returned({ worker, attemptId }, { what: 'no room' })
  else void service.finished({ worker, attemptId }, REPORTS.result)
  if (kind === 'return' || kind === 'finish') held.leases.shift()
}

const REPORTS: Record<'result' | 'timeout' | 'stopped' | 'fault' | 'hopeless', AttemptReport> = {
  result: { outcome: { kind: 'result', succeeded: true }, result: Buffer.from('of the holder') },
  timeout: { outcome: { kind: 'timeout' } },
  stopped: { outcome: { kind: 'stopped' } },
  fault: { outcome: { kind: 'fault', what: 'forged' } },
  hopeless: { outcome: { kind: 'fault', what: 'forged', final: true } },
}

async function foreign(world: World, { worker: number, attempt, message }: Step & { kind: 'foreign' }): Promise<void> {
  const attempts = [...world.leasedTo.keys()]
  const attemptId = attempts[attempt % Math.max(1, attempts.length)]
  const from = WORKERS[number] as string
  if (attemptId === undefined || world.leasedTo.get(attemptId) === from) return
  const before = await picture(world)
  await expect(rejected(world, { worker: from, attemptId }, message)).resolves.toBe(true)
  await turns()
  expect(await picture(world), `${message} from ${from} about ${attemptId}`).toEqual(before)
}

/** Sends the message; true when the server refused it. */
async function rejected(
  { grid, workers }: World,
  word: { readonly worker: string; readonly attemptId: string },
  message: Message,
): Promise<boolean> {
  const { workers: service } = grid.engine
  if (message === 'started') return !service.started(word.worker, word.attemptId)
  if (message === 'returned') return !service.returned(word, { what: 'forged' })
  if (message === 'output') return !service.output({ ...word, stream: 'stdout', bytes: Buffer.from('forged') })
  if (message === 'lists') {
    const held = workers.get(word.worker)?.leases ?? []
    service.heartbeat(word.worker, { holds: [...held.map(({ attemptId }) => attemptId), word.attemptId] })
    return true
  }
  return (await service.finished(word, REPORTS[message])) === 'superseded'
}

/** The records of all tasks, and the status that their clients see. */
const picture = async ({ grid, records, operations }: World) =>
  structuredClone({
    recorded: await Promise.all(operations.map((operation) => memoryJournal(records).find(operation))),
    seen: await Promise.all(operations.map((operation) => grid.engine.find(LOCAL_CALLER, operation))),
    why: await Promise.all(operations.map((operation) => grid.engine.why(LOCAL_CALLER, operation))),
  })

test(`a worker that does not hold a lease changes nothing, before and after restarts (WINDLASS_SEED=${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const base = { records: memoryRecords(), clock: manualClock() }
      const world: World = {
        ...base,
        grid: await start(base),
        workers: new Map(),
        operations: [],
        leasedTo: new Map(),
      }
      for (const id of WORKERS) register(world, id)
      for (const one of steps) await act(world, one)
      // Every accepted task still completes, with the result of a worker that held its lease.
      for (let round = 0; round < 200; round++) {
        const open = (await picture(world)).seen.some((status) => status?.end === undefined)
        if (!open) break
        for (const id of WORKERS) {
          register(world, id)
          await turns()
          while ((world.workers.get(id)?.leases.length ?? 0) > 0)
            await act(world, { kind: 'finish', worker: WORKERS.indexOf(id) })
        }
        await world.grid.after(61_000)
      }
      for (const status of (await picture(world)).seen) {
        expect(status?.state).toBe('completed')
        expect(Buffer.from(status?.end?.result ?? []).toString()).toBe('of the holder')
      }
      await world.grid.engine.close()
    }),
    { seed, numRuns: 120 },
  )
})
