/** One contestant under one load: the load's result, and the server's CPU time. */
import type { Paced, Saturated } from './bazel-load.ts'
import type { Contestant, ContestantName } from './contestants.ts'
import type { Row } from './rows.ts'

export interface Measurement extends Saturated, Paced {
  readonly row: string
  readonly contestant: ContestantName
  readonly round: number
  readonly serverCpuUs: number
  readonly rssBytes: number
}

/** CPU time of the server in one window: long enough that a single garbage collection does not matter. */
const WINDOW_CPU_MS = 600
const MOST_CALLS = 200_000

async function saturated(row: Row, contestant: Contestant, calls: number) {
  await row.prepare(calls)
  const before = await contestant.usage()
  const load = await row.saturate(contestant.port, calls)
  const after = await contestant.usage()
  const expected = calls * row.answerBytes
  if (load.dataBytes !== expected) {
    throw new Error(`${contestant.name}, ${row.name}: ${load.dataBytes} bytes of answers instead of ${expected}`)
  }
  return { ...load, serverCpuUs: after.cpuUs - before.cpuUs, rssBytes: after.rssBytes }
}

/**
 * Warms the contestant up, and returns the number of calls in a window. It takes three turns, because V8 optimizes
 * late: grpc-js gets from 110 to 40 µs per call over its first 30,000 calls, and must not be measured before that.
 */
export async function calibrate(row: Row, contestant: Contestant): Promise<number> {
  let calls = row.fewCalls
  for (const targetMs of [WINDOW_CPU_MS, 1.5 * WINDOW_CPU_MS, WINDOW_CPU_MS]) {
    const { serverCpuUs } = await saturated(row, contestant, calls)
    const steps = Math.round((calls * targetMs * 1000) / serverCpuUs / row.step)
    calls = Math.min(MOST_CALLS, Math.max(1, steps) * row.step)
  }
  return calls
}

export async function measure(row: Row, contestant: Contestant, calls: number): Promise<Omit<Measurement, 'round'>> {
  const load = await saturated(row, contestant, calls)
  const paced = await row.pace(contestant.port)
  return { row: row.name, contestant: contestant.name, ...load, ...paced }
}
