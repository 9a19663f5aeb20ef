import { randomBytes } from 'node:crypto'
import { systemClock } from '../../src/app/process/clock.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import type { OperationStatus } from '../../src/engine/tasks/status.ts'
import type { TaskLease } from '../../src/engine/workers/worker-session.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { Durability } from '../../src/storage/journal/fact.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { quantile } from '../middle.ts'
import { type Cost, measured, type Pace } from './pace.ts'

export interface GridLoad extends Pace {
  readonly durability: Durability
  /** Bytes of the spec and of the result, each. */
  readonly bytes: number
}

export interface GridFigures extends Cost {
  /** From `submit` to its acknowledgement, in ms. */
  readonly acknowledgedP50: number
  readonly acknowledgedP99: number
  /** From the worker's result until the watcher is notified. */
  readonly toldP50: number
  readonly toldP99: number
}

const WORKERS = 64
const SLOTS = 64
const PROPERTIES = [
  { name: 'OSFamily', value: 'linux' },
  { name: 'container-image', value: 'docker://example' },
]
const ACTION = 'ab'.repeat(32)
let named = 0

/** IDs that increase with time, like UUIDs of version 7. */
const newId = (): string =>
  `${(++named).toString(16).padStart(12, '0')}-7000-9a3d-${Date.now().toString(16).padStart(12, '0')}`

/** An engine with workers that finish each task in the next loop turn. */
export async function gridFor(journal: Journal, bytes: number): Promise<Grid> {
  const scheduler = { maxQueued: 1_000_000 }
  const engine = await createEngine({ journal, clock: systemClock, newId, random: Math.random, scheduler })
  const doneAt = new Map<string, number>()
  const result = randomBytes(bytes)
  for (let i = 0; i < WORKERS; i++) hire(engine, `worker-${i}`, { result, doneAt })
  return { engine, doneAt, spec: randomBytes(bytes) }
}

export interface Grid {
  readonly engine: Engine
  /** The time of the worker's result, by operation. */
  readonly doneAt: Map<string, number>
  readonly spec: Uint8Array
}

function hire(engine: Engine, worker: string, { result, doneAt }: { result: Uint8Array; doneAt: Map<string, number> }) {
  let leases: TaskLease[] = []
  const report = { outcome: { kind: 'result', succeeded: true } as const, result }
  const work = (): void => {
    const taken = leases
    leases = []
    for (const { attemptId, operation } of taken) {
      doneAt.set(operation, performance.now())
      void engine.workers.finished({ worker, attemptId }, report)
    }
  }
  const session = {
    lease(given: readonly TaskLease[]) {
      if (leases.length === 0) setImmediate(work)
      for (const lease of given) leases.push(lease)
    },
    begin() {},
    stop() {},
    order() {},
    close() {},
  }
  engine.workers.register({ worker, slots: SLOTS, properties: PROPERTIES }, session)
}

/** Runs whole tasks like an API does: submitted, acknowledged, watched, and notified. */
export async function liveInGrid({ engine, doneAt, spec }: Grid, load: GridLoad): Promise<GridFigures> {
  const acknowledged = new Float64Array(load.lives)
  const reported = new Float64Array(load.lives)
  const { durability } = load
  const failed = (error: Error): never => {
    throw error
  }
  const one = (number: number, over: () => void): void => {
    const start = performance.now()
    const submission = {
      instance: 'main',
      invocation: `build-${number % 20}`,
      origin: 'action',
      spec,
      properties: PROPERTIES,
      actionKey: `${ACTION}/${number}`,
      durability,
      mayStartEarly: true,
      needsWaiter: true,
    }
    engine.submit(LOCAL_CALLER, submission).then(({ operation }) => {
      acknowledged[number] = performance.now() - start
      engine.watch(LOCAL_CALLER, operation, {
        notify({ end }: OperationStatus) {
          if (end === undefined) return
          // A result also waits for the acknowledgement, so its delay counts from the later of the two.
          const since = Math.max(doneAt.get(operation) ?? 0, start + (acknowledged[number] ?? 0))
          reported[number] = performance.now() - since
          doneAt.delete(operation)
          over()
        },
        failed,
      })
    }, failed)
  }
  const cost = await measured(load, one)
  return {
    ...cost,
    acknowledgedP50: quantile(acknowledged, 0.5),
    acknowledgedP99: quantile(acknowledged, 0.99),
    toldP50: quantile(reported, 0.5),
    toldP99: quantile(reported, 0.99),
  }
}
