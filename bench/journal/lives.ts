import { randomBytes } from 'node:crypto'
import type { Accepted, Durability, Finished, Leased } from '../../src/storage/journal/fact.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { quantile } from '../middle.ts'
import { type Cost, measured, type Pace } from './pace.ts'

export interface Load extends Pace {
  readonly durability: Durability
  /** Bytes of the spec and of the result, each. */
  readonly bytes: number
  /** Whether operation names increase with time. */
  readonly names: 'growing' | 'random'
}

export interface Figures extends Cost {
  /** From `record` to its promise, in ms. */
  readonly latencyP50: number
  readonly latencyP99: number
}

/**
 * Records whole tasks, one fact per call like an engine: accepted, leased, finished, each after the last is durable.
 */
export async function live(journal: Pick<Journal, 'record'>, epoch: number, load: Load): Promise<Figures> {
  const spec = randomBytes(load.bytes)
  const latencies = new Float64Array(load.lives * 3)
  let taken = 0
  const record = async (fact: Accepted | Leased | Finished): Promise<void> => {
    const start = performance.now()
    await journal.record([fact], load.durability)
    latencies[taken++] = performance.now() - start
  }
  const one = async (number: number): Promise<void> => {
    const { accepted, leased, finished } = factsOf({ number, epoch, spec, load })
    await record(accepted)
    await record(leased)
    await record(finished)
  }
  const cost = await measured(load, (number, over) => void one(number).then(over))
  return { ...cost, latencyP50: quantile(latencies, 0.5), latencyP99: quantile(latencies, 0.99) }
}

const ACTION = 'ab'.repeat(32)
let made = 0

function factsOf({ number, epoch, spec, load }: { number: number; epoch: number; spec: Uint8Array; load: Load }): {
  accepted: Accepted
  leased: Leased
  finished: Finished
} {
  const at = Date.now()
  const id = `${(++made).toString(16).padStart(12, '0')}-7000-9a3d-${at.toString(16).padStart(12, '0')}`
  const task = `t-${id}`
  const fencing = { epoch, counter: made }
  const operation = load.names === 'random' ? crypto.randomUUID() : id
  return {
    accepted: {
      kind: 'accepted',
      task,
      operation,
      instance: 'main',
      invocation: `build-${number % 20}`,
      priority: 0,
      origin: 'action',
      spec,
      actionKey: `${ACTION}/142`,
      durability: load.durability,
      at,
    },
    leased: { kind: 'leased', task, worker: `worker-${number % 100}`, fencing, attempt: 1, at },
    finished: { kind: 'finished', task, state: 'completed', fencing, result: spec, reason: '', at },
  }
}
