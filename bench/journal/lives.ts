import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Accepted, Durability, Finished, Leased } from '../../src/storage/journal/fact.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { quantile } from '../middle.ts'

export interface Load {
  readonly durability: Durability
  readonly lives: number
  /** Lives that are begun each second; as many as there is room for when not said. */
  readonly perSecond?: number
  /** Lives that are open at once, at most. */
  readonly open: number
  /** Of spec and of result each. */
  readonly bytes: number
  /** Operation names that grow with time, or not. */
  readonly names: 'growing' | 'random'
}

export interface Figures {
  readonly perSecond: number
  /** CPU µs a life on this thread, and on all others together. */
  readonly mainMicros: number
  readonly otherMicros: number
  /** From `record` to its promise, in ms. */
  readonly latencyP50: number
  readonly latencyP99: number
  readonly loopP99: number
}

/** Whole lives, one fact a call as an engine records them: accepted, leased, finished, each after the last is durable. */
export async function live(journal: Pick<Journal, 'record'>, epoch: number, load: Load): Promise<Figures> {
  const spec = randomBytes(load.bytes)
  const latencies = new Float64Array(load.lives * 3)
  const before = { all: process.cpuUsage(), main: process.threadCpuUsage(), at: performance.now() }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let measured = 0
  const record = async (fact: Accepted | Leased | Finished): Promise<void> => {
    const start = performance.now()
    await journal.record([fact], load.durability)
    latencies[measured++] = performance.now() - start
  }
  const one = async (number: number): Promise<void> => {
    const { accepted, leased, finished } = factsOf({ number, epoch, spec, load })
    await record(accepted)
    await record(leased)
    await record(finished)
  }
  await begin(load, one)
  delay.disable()
  const ms = performance.now() - before.at
  const all = microseconds(process.cpuUsage(before.all))
  const main = microseconds(process.threadCpuUsage(before.main))
  return {
    perSecond: (load.lives / ms) * 1000,
    mainMicros: main / load.lives,
    otherMicros: (all - main) / load.lives,
    latencyP50: quantile(latencies, 0.5),
    latencyP99: quantile(latencies, 0.99),
    loopP99: delay.percentile(99) / 1e6 - 1, // it counts the millisecond that it sleeps
  }
}

/** Begins lives as they are due and as there is room; resolves when all are over. Never spins: the CPU is measured. */
function begin({ lives, perSecond, open }: Load, one: (number: number) => Promise<void>): Promise<void> {
  const start = performance.now()
  let begun = 0
  let over = 0
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      if (++over === lives) resolve()
      else if (perSecond === undefined) more(lives)
    }
    const more = (due: number): void => {
      while (begun < due && begun - over < open) one(begun++).then(ended, reject)
    }
    const tick = (): void => {
      more(Math.min(lives, ((performance.now() - start) / 1000) * (perSecond ?? 0)))
      if (begun < lives) setTimeout(tick, 1)
    }
    if (perSecond === undefined) more(lives)
    else tick()
  })
}

const microseconds = ({ user, system }: { user: number; system: number }): number => user + system

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
