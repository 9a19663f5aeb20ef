/**
 * The load generator, a separate process. `prepare` makes the calls before the measurement. `saturate` keeps a number
 * of calls in progress and reports the total time. `pace` starts each call at a fixed time, independent of earlier
 * answers, and reports the latencies.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { answerWith } from '../child.ts'
import { quantile } from '../middle.ts'
import { Connection, type Listener } from './generator/connection.ts'
import { type Plan, type Script, writeScript } from './generator/script.ts'

export type LoadQuestion =
  | { readonly ask: 'prepare'; readonly plan: Plan; readonly connections: number; readonly calls: number }
  | { readonly ask: 'saturate'; readonly port: number; readonly plan: Plan; readonly load: Saturation }
  | { readonly ask: 'pace'; readonly port: number; readonly plan: Plan; readonly load: Pace }

export interface Saturation {
  readonly connections: number
  /** Per connection. */
  readonly calls: number
  readonly inFlight: number
}

/** Starts calls at a fixed rate on one connection. */
export interface Pace {
  readonly calls: number
  readonly perSecond: number
}

export interface Saturated {
  readonly calls: number
  readonly dataBytes: number
  readonly wallMs: number
}

/** Latencies from the scheduled start to the trailers. */
export interface Paced {
  readonly p50Ms: number
  readonly p99Ms: number
}

const LONGEST_RUN_MS = 60_000
const scripts = new Map<string, Script>()

/** A script is reused for fewer calls. */
function scriptOf(plan: Plan, connection: number, calls: number): Script {
  const key = JSON.stringify([plan, connection])
  const known = scripts.get(key)
  if (known !== undefined && known.count >= calls) return known
  const script = writeScript(plan, connection, calls)
  scripts.set(key, script)
  return script
}

function prepare(plan: Plan, connections: number, calls: number): void {
  for (let i = 0; i < connections; i++) scriptOf(plan, i, calls)
}

async function saturate(port: number, plan: Plan, { connections, calls, inFlight }: Saturation): Promise<Saturated> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(new Error('the calls were not answered in time')), LONGEST_RUN_MS)
  const startedAt = performance.now()
  let left = connections * calls
  const open = Array.from({ length: connections }, (_, i) => {
    const listener: Listener = {
      answered: () => {
        connection.allow(Math.min(calls, connection.done + inFlight))
        if (--left === 0) resolve()
      },
      failed: (why) => reject(new Error(why)),
    }
    const connection: Connection = new Connection(port, scriptOf(plan, i, calls), listener)
    connection.allow(Math.min(calls, inFlight))
    return connection
  })
  await promise.finally(() => {
    clearTimeout(timer)
    for (const connection of open) connection.close()
  })
  const dataBytes = open.reduce((sum, connection) => sum + connection.dataBytes, 0)
  return { calls: connections * calls, dataBytes, wallMs: performance.now() - startedAt }
}

async function pace(port: number, plan: Plan, { calls, perSecond }: Pace): Promise<Paced> {
  const gapMs = 1000 / perSecond
  const lateMs = new Float64Array(calls)
  let failure: string | undefined
  const startAt = performance.now() + 50
  const connection = new Connection(port, scriptOf(plan, 0, calls), {
    answered: (call) => {
      lateMs[call] = performance.now() - startAt - call * gapMs
    },
    failed: (why) => {
      failure ??= why
    },
  })
  // This polls instead of sleeping: timers have a resolution of 1 ms, which is longer than an answer takes.
  while (connection.done < calls && failure === undefined) {
    const elapsedMs = performance.now() - startAt
    if (elapsedMs > LONGEST_RUN_MS) failure = 'the calls were not answered in time'
    else if (elapsedMs >= 0) connection.allow(Math.min(calls, Math.floor(elapsedMs / gapMs) + 1))
    await nextTurn()
  }
  connection.close()
  if (failure !== undefined) throw new Error(failure)
  return { p50Ms: quantile(lateMs, 0.5), p99Ms: quantile(lateMs, 0.99) }
}

answerWith((question: LoadQuestion) => {
  if (question.ask === 'prepare') return prepare(question.plan, question.connections, question.calls)
  if (question.ask === 'saturate') return saturate(question.port, question.plan, question.load)
  return pace(question.port, question.plan, question.load)
})
