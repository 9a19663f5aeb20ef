/** The server and the load generator, which all measurements share. */
import { randomUUID } from 'node:crypto'
import type { Running } from '../cache/peers/windlass.ts'
import { usageOf } from '../cache/process-usage.ts'
import type { Child } from '../child.ts'
import type { LoadAnswer, LoadQuestion } from './generator/load.ts'
import type { Options } from './options.ts'
import type { Worker } from './peers/windlass.ts'

export interface Bench {
  readonly options: Options
  readonly folder: string
  readonly generator: Child
  readonly server: Running
}

/** Whether `--only` selects a group of rows. */
export const wants = ({ options: { only } }: Bench, row: string): boolean => row.includes(only) || only.includes(row)

export const prepare = ({ generator, server }: Bench, count: number): Promise<void> =>
  generator.ask<void>({ ask: 'prepare', port: server.port, count, word: randomUUID() } satisfies LoadQuestion)

export const load = ({ generator }: Bench, question: LoadQuestion): Promise<LoadAnswer> =>
  generator.ask<LoadAnswer>(question)

/** Runs a load, and returns its answer with the CPU time of server and worker during it. */
export async function observed(bench: Bench, worker: Worker, question: LoadQuestion) {
  const cpu = () => ({ server: usageOf(bench.server.server.pid).cpuUs, worker: worker.cpuUs() })
  const before = cpu()
  const answer = await load(bench, question)
  const after = cpu()
  return { answer, cpuUs: { server: after.server - before.server, worker: after.worker - before.worker } }
}
