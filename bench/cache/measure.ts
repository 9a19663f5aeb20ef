/** One contestant under one load: the load's result, and the server's CPU time. */
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
  /** The duration of the latency measurement in each round. */
  readonly paceMs: number
}

/** CPU time of the server in one window: /proc counts in steps of 10 ms. */
const WINDOW_CPU_MS = 1000
/** A short window may round to 0. */
const LEAST_CPU_US = 5000
const LEAST_PACED_CALLS = 8

export interface Window {
  readonly row: Pick<Row, 'name' | 'plan' | 'connections' | 'inFlight'>
  readonly contestant: Pick<Contestant, 'port' | 'usage'>
  readonly calls: number
  /** The name of the uploaded set, the same for all contestants of a round. */
  readonly set: string
}

export async function saturated(
  bench: Bench,
  window: Window,
  verifyAll: boolean,
): Promise<Omit<Measurement, 'row' | 'round' | 'contestant'>> {
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
  return { ...loaded, serverCpuUs, rssBytes: after.rssBytes }
}

/** Warms the contestant up, with every answer compared, and returns the number of calls in a window. */
export async function calibrate(bench: Bench, row: Row, contestant: Contestant): Promise<number> {
  let calls = Math.min(row.fewCalls, row.mostCalls)
  for (const [turn, targetMs] of [WINDOW_CPU_MS / 4, WINDOW_CPU_MS, WINDOW_CPU_MS].entries()) {
    const { serverCpuUs } = await saturated(bench, { row, contestant, calls, set: `warm ${turn}` }, turn === 0)
    const expected = Math.round((calls * targetMs * 1000) / Math.max(LEAST_CPU_US, serverCpuUs))
    calls = Math.min(row.mostCalls, Math.max(1, expected))
    // Large blobs need one turn to warm up, and uploads use disk space.
    if (row.perSecond === undefined || (isWriting(row.plan.kind) && turn === 1)) break
  }
  return calls
}

/** Makes the fewest calls that show that the answers are correct. */
export const checkOnce = async (bench: Bench, row: Row, contestant: Contestant): Promise<Measurement> => {
  const calls = Math.min(row.fewCalls, 200)
  const measured = await saturated(bench, { row, contestant, calls, set: 'check' }, true)
  return { row: row.name, contestant: contestant.name, round: 1, ...measured }
}

export async function measure(
  bench: Bench,
  window: Window & { readonly row: Row; readonly contestant: Contestant },
  round: number,
): Promise<Measurement> {
  const { row, contestant } = window
  const { generator, stock, paceMs } = bench
  const measured = await saturated(bench, window, false)
  const heading = { row: row.name, contestant: contestant.name, round }
  if (row.perSecond === undefined) return { ...heading, ...measured }
  const count = Math.max(LEAST_PACED_CALLS, Math.round((paceMs * row.perSecond) / 1000))
  const lot: Lot = { plan: row.plan, stock, count, set: `${row.name} ${window.set} paced` }
  const port = contestant.port(row.plan.kind)
  await generator.ask<void>({ ask: 'prepare', lot } satisfies LoadQuestion)
  const paced: LoadQuestion = { ask: 'pace', port, lot, perSecond: row.perSecond }
  return { ...heading, ...measured, latency: await generator.ask<Latency>(paced) }
}
