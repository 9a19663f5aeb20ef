/** One contestant under one load: what the load did, and what the server spent on it meanwhile. */
import type { Child } from '../child.ts'
import type { Contestant, ContestantName } from './contestant.ts'
import type { Latency, Loaded, LoadQuestion } from './generator/load.ts'
import type { Lot } from './generator/make-calls.ts'
import { isWriting, type Stock } from './plan.ts'
import type { Row } from './rows.ts'

export interface Measurement extends Loaded {
  readonly row: string
  readonly contestant: ContestantName
  readonly round: number
  readonly serverCpuUs: number
  readonly rssBytes: number
}

export interface Bench {
  readonly generator: Child
  readonly stock: Stock
  /** How long latency is looked at, in each round. */
  readonly paceMs: number
}

/** Of server CPU in one window: /proc counts in steps of 10 ms. */
const WINDOW_CPU_MS = 1000
/** A short window may round to nothing. */
const LEAST_CPU_US = 5000
const LEAST_PACED_CALLS = 8

interface Window {
  readonly row: Row
  readonly contestant: Contestant
  readonly calls: number
  /** Names what is uploaded; the same for all contestants of a round. */
  readonly set: string
}

async function saturated(
  bench: Bench,
  window: Window,
  verifyAll: boolean,
): Promise<Omit<Measurement, 'row' | 'round'>> {
  const { row, contestant, calls, set } = window
  const { kind } = row.plan
  const { generator, stock } = bench
  const lot: Lot = { plan: row.plan, stock, count: calls, set: `${row.name} ${set}` }
  const { connections, inFlight } = row
  const load = { connections, inFlight, verifyAll }
  await generator.ask<void>({ ask: 'prepare', lot } satisfies LoadQuestion)
  const before = contestant.usage(kind)
  const port = contestant.port(kind)
  const loaded = await generator.ask<Loaded>({ ask: 'saturate', port, lot, load } satisfies LoadQuestion)
  const after = contestant.usage(kind)
  if (loaded.calls !== calls) throw new Error(`${loaded.calls} of ${calls} calls were answered`)
  const serverCpuUs = after.cpuUs - before.cpuUs
  return { ...loaded, contestant: contestant.name, serverCpuUs, rssBytes: after.rssBytes }
}

/** Warms the contestant up while every answer is looked at, and answers with how many calls fill a window. */
export async function calibrate(bench: Bench, row: Row, contestant: Contestant): Promise<number> {
  let calls = Math.min(row.fewCalls, row.mostCalls)
  for (const [turn, targetMs] of [WINDOW_CPU_MS / 4, WINDOW_CPU_MS, WINDOW_CPU_MS].entries()) {
    const { serverCpuUs } = await saturated(bench, { row, contestant, calls, set: `warm ${turn}` }, turn === 0)
    const wanted = Math.round((calls * targetMs * 1000) / Math.max(LEAST_CPU_US, serverCpuUs))
    calls = Math.min(row.mostCalls, Math.max(1, wanted))
    // Large blobs warm up in one turn, and uploads take room.
    if (row.perSecond === undefined || (isWriting(row.plan.kind) && turn === 1)) break
  }
  return calls
}

/** As few calls as show that the answers are right. */
export const checkOnce = async (bench: Bench, row: Row, contestant: Contestant): Promise<Measurement> => {
  const calls = Math.min(row.fewCalls, 200)
  return { row: row.name, round: 1, ...(await saturated(bench, { row, contestant, calls, set: 'check' }, true)) }
}

export async function measure(bench: Bench, window: Window, round: number): Promise<Measurement> {
  const { row, contestant } = window
  const { generator, stock, paceMs } = bench
  const measured = await saturated(bench, window, false)
  if (row.perSecond === undefined) return { row: row.name, round, ...measured }
  const count = Math.max(LEAST_PACED_CALLS, Math.round((paceMs * row.perSecond) / 1000))
  const lot: Lot = { plan: row.plan, stock, count, set: `${row.name} ${window.set} paced` }
  const port = contestant.port(row.plan.kind)
  await generator.ask<void>({ ask: 'prepare', lot } satisfies LoadQuestion)
  const paced: LoadQuestion = { ask: 'pace', port, lot, perSecond: row.perSecond }
  return { row: row.name, round, ...measured, latency: await generator.ask<Latency>(paced) }
}
