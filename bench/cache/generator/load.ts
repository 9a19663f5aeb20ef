/**
 * The load generator, a separate process. `prepare` makes the calls before the measurement. `saturate` keeps a number
 * of calls in progress and reports the total time. `pace` starts each call at a fixed time, independent of earlier
 * answers, and reports the latencies. Every answer is counted; see judge.ts.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { answerWith } from '../../child.ts'
import { quantile } from '../../middle.ts'
import { isWriting } from '../plan.ts'
import type { Call } from './call.ts'
import { Connection } from './connection.ts'
import { Judge } from './judge.ts'
import { type Lot, makeCalls } from './make-calls.ts'

export type LoadQuestion =
  | { readonly ask: 'prepare'; readonly lot: Lot }
  | { readonly ask: 'forget' }
  | { readonly ask: 'saturate'; readonly port: number; readonly lot: Lot; readonly load: Saturation }
  | { readonly ask: 'pace'; readonly port: number; readonly lot: Lot; readonly perSecond: number }

export interface Saturation {
  readonly connections: number
  /** The number of calls in progress on each connection. */
  readonly inFlight: number
  /** Whether to compare every byte of every answer; for calls that are not measured. */
  readonly verifyAll: boolean
}

export interface Loaded {
  readonly calls: number
  /** Bytes of blobs that were transferred, uncompressed. */
  readonly contentBytes: number
  readonly wallMs: number
  /** CPU time of the generator itself. */
  readonly generatorCpuUs: number
  readonly latency: Latency
}

export interface Latency {
  readonly p50Ms: number
  readonly p99Ms: number
}

const LONGEST_RUN_MS = 110_000
const prepared = new Map<string, Call[]>()

function callsOf(lot: Lot): Call[] {
  const writes = isWriting(lot.plan.kind)
  const key = JSON.stringify(writes ? [lot.plan, lot.set] : [lot.plan])
  const known = prepared.get(key)
  if (known !== undefined && (!writes || known.length >= lot.count)) return known
  const calls = makeCalls(lot)
  prepared.set(key, calls)
  return calls
}

/** Discards uploads, because each blob is uploaded only once. */
function forget(): void {
  for (const key of prepared.keys()) if (JSON.parse(key).length > 1) prepared.delete(key)
}

async function saturate(port: number, lot: Lot, load: Saturation): Promise<Loaded> {
  const calls = callsOf(lot)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => reject(new Error('the calls were not answered in time')), LONGEST_RUN_MS)
  const judge = new Judge(`${port} ${JSON.stringify(lot.plan)}`, load.verifyAll)
  const tookMs = new Float64Array(lot.count)
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  let started = 0
  let done = 0
  const open = Array.from({ length: load.connections }, () => {
    const startOne = () => {
      if (started === lot.count) return
      const call = calls[started++ % calls.length] as Call
      connection.start(call, judge.attention(call))
    }
    const connection: Connection = new Connection(port, {
      answered(exchange) {
        tookMs[done] = performance.now() - exchange.startedAt
        judge.hear(exchange)
        startOne()
        if (++done === lot.count) resolve()
      },
      failed: (why) => reject(new Error(why)),
    })
    for (let i = 0; i < load.inFlight; i++) startOne()
    return connection
  })
  await promise.finally(() => {
    clearTimeout(timer)
    for (const connection of open) connection.close()
  })
  const wallMs = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpuBefore)
  judge.verify()
  const latency = { p50Ms: quantile(tookMs, 0.5), p99Ms: quantile(tookMs, 0.99) }
  return { calls: done, contentBytes: judge.contentBytes, wallMs, generatorCpuUs: user + system, latency }
}

async function pace(port: number, lot: Lot, perSecond: number): Promise<Latency> {
  const calls = callsOf(lot)
  const gapMs = 1000 / perSecond
  const lateMs = new Float64Array(lot.count)
  const judge = new Judge(`${port} ${JSON.stringify(lot.plan)}`, false)
  const dueAt = new Map<Call, number[]>()
  let failure: string | undefined
  let started = 0
  let done = 0
  const startAt = performance.now() + 50
  const connection = new Connection(port, {
    answered(exchange) {
      judge.hear(exchange)
      lateMs[done++] = performance.now() - (dueAt.get(exchange.call)?.shift() ?? startAt)
    },
    failed: (why) => {
      failure ??= why
    },
  })
  // This polls instead of sleeping: timers have a resolution of 1 ms, which is longer than an answer takes.
  while (done < lot.count && failure === undefined) {
    const now = performance.now()
    for (; started < lot.count && startAt + started * gapMs <= now; started++) {
      const call = calls[started % calls.length] as Call
      dueAt.set(call, [...(dueAt.get(call) ?? []), startAt + started * gapMs])
      connection.start(call, judge.attention(call))
    }
    if (now - startAt > LONGEST_RUN_MS) failure = 'the calls were not answered in time'
    await nextTurn()
  }
  connection.close()
  if (failure !== undefined) throw new Error(failure)
  judge.verify()
  return { p50Ms: quantile(lateMs, 0.5), p99Ms: quantile(lateMs, 0.99) }
}

answerWith((question: LoadQuestion) => {
  if (question.ask === 'prepare') return void callsOf(question.lot)
  if (question.ask === 'forget') return forget()
  if (question.ask === 'saturate') return saturate(question.port, question.lot, question.load)
  return pace(question.port, question.lot, question.perSecond)
})
