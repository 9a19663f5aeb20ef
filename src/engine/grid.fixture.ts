/** A grid for tests: an engine on a manual clock, and workers that the test controls. */
import { onTestFinished } from 'vitest'
import { LOCAL_CALLER } from '../model/caller.ts'
import type { Journal } from '../storage/journal/journal.ts'
import { type ManualClock, manualClock } from '../testing/manual-clock.ts'
import { createEngine, type LocalEngine } from './engine.ts'
import type { EngineOptions } from './engine-options.ts'
import type { OperationStatus } from './tasks/status.ts'
import type { TaskRequest } from './tasks/task-request.ts'
import type { AttemptReport, TaskLease, WorkerDescription, WorkerSession } from './workers/worker-session.ts'

export const LINUX = [{ name: 'OSFamily', value: 'linux' }]

export interface Grid {
  readonly engine: LocalEngine
  readonly clock: ManualClock
  submit(rest?: Partial<TaskRequest>): Promise<OperationStatus>
  worker(id: string, rest?: Partial<WorkerDescription>): FakeWorker
  /** Advances the clock, then waits until the engine has reacted. */
  after(ms: number): Promise<void>
}

let names = 0

export async function openGrid(
  journal: Journal,
  rest: Partial<Omit<EngineOptions, 'clock'>> & { clock?: ManualClock } = {},
): Promise<Grid> {
  const clock = rest.clock ?? manualClock()
  const engine = await createEngine({
    journal,
    newId: () => `op-${(++names).toString().padStart(8, '0')}`,
    random: () => 0.5,
    ...rest,
    clock,
  })
  onTestFinished(() => void engine.close())
  return {
    engine,
    clock,
    submit: (request) => engine.submit(LOCAL_CALLER, requestOf(request)),
    worker: (id, description) => fakeWorker(engine, { worker: id, slots: 1, properties: LINUX, ...description }),
    async after(ms) {
      clock.advance(ms)
      await turns()
    },
  }
}

export const requestOf = (rest: Partial<TaskRequest> = {}): TaskRequest => ({
  instance: 'main',
  origin: 'action',
  spec: Buffer.from('run it'),
  properties: LINUX,
  mayStartEarly: true,
  ...rest,
})

/** Runs `count` event loop turns: enough for a journal in memory to answer and for watchers to be notified. */
export async function turns(count = 4): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Waits until the condition holds; throws after `most` loop turns. */
export async function until(isSo: () => boolean, most = 20_000): Promise<void> {
  for (let i = 0; i < most && !isSo(); i++) await new Promise<void>((resolve) => setImmediate(resolve))
  if (!isSo()) throw new Error('the condition did not hold in time')
}

export interface FakeWorker {
  readonly id: string
  readonly session: WorkerSession
  /** Its unfinished leases, in order. */
  readonly leases: TaskLease[]
  /** All other calls to its session, as text. */
  readonly calls: string[]
  start(lease?: TaskLease): void
  finish(lease?: TaskLease, report?: Partial<AttemptReport>): Promise<'applied' | 'superseded'>
  heartbeat(): boolean
  /** Polls; the returned leases are added to `leases`. */
  ask(tasks?: number): () => void
}

export function fakeWorker(engine: LocalEngine, description: WorkerDescription): FakeWorker {
  const leases: TaskLease[] = []
  const calls: string[] = []
  const id = description.worker
  const session: WorkerSession = {
    lease: (given) => void leases.push(...given),
    begin: (attempt) => void calls.push(`begin ${attempt}`),
    stop: (attempt, why) => void calls.push(`stop ${attempt}: ${why}`),
    order: (order) => void calls.push(order),
    close: (what) => void calls.push(`over: ${what}`),
  }
  engine.workers.register(description, session)
  const firstOf = (lease: TaskLease | undefined): TaskLease => {
    const first = lease ?? leases[0]
    if (first === undefined) throw new Error(`worker ${id} has nothing`)
    return first
  }
  return {
    id,
    session,
    leases,
    calls,
    start: (lease) => void engine.workers.started(id, firstOf(lease).attemptId),
    finish(given, report) {
      const lease = firstOf(given)
      const at = leases.indexOf(lease)
      if (at >= 0) leases.splice(at, 1)
      const result = Buffer.from(`result of ${lease.task} by ${id}`)
      return engine.workers.finished(
        { worker: id, attemptId: lease.attemptId },
        { outcome: { kind: 'result', succeeded: true }, result, ...report },
      )
    },
    heartbeat: () => engine.workers.heartbeat(id, { holds: leases.map(({ attemptId }) => attemptId) }),
    ask: (tasks = 1) => engine.workers.ask({ worker: id, tasks }, (given) => void leases.push(...given)),
  }
}

export interface FakeWatcher {
  readonly statuses: OperationStatus[]
  readonly failures: string[]
  readonly states: string[]
  readonly result: string | undefined
  unwatch(): void
}

export function watchOf(engine: LocalEngine, operation: string): FakeWatcher {
  const statuses: OperationStatus[] = []
  const failures: string[] = []
  const unwatch = engine.watch(LOCAL_CALLER, operation, {
    notify: (status) => void statuses.push(status),
    failed: (error) => void failures.push(error.fault.kind),
  })
  return {
    statuses,
    failures,
    get states() {
      return statuses.map(({ state }) => state)
    },
    get result() {
      return text(statuses.at(-1)?.end?.result)
    },
    unwatch,
  }
}

export const text = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString()
