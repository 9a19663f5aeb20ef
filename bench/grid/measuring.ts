/** What all measurements share: the server, the generator, and how a load is put on the one by the other. */
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

/** Whether a group of rows was asked for. */
export const wants = ({ options: { only } }: Bench, row: string): boolean => row.includes(only) || only.includes(row)

export const prepare = ({ generator, server }: Bench, count: number): Promise<void> =>
  generator.ask<void>({ ask: 'prepare', port: server.port, count, word: randomUUID() } satisfies LoadQuestion)

export const load = ({ generator }: Bench, question: LoadQuestion): Promise<LoadAnswer> =>
  generator.ask<LoadAnswer>(question)

/** Together with the CPU time that server and worker took for it. */
export async function observed(bench: Bench, worker: Worker, question: LoadQuestion) {
  const cpu = () => ({ server: usageOf(bench.server.server.pid).cpuUs, worker: usageOf(worker.process.pid).cpuUs })
  const before = cpu()
  const answer = await load(bench, question)
  const after = cpu()
  return { answer, cpuUs: { server: after.server - before.server, worker: after.worker - before.worker } }
}
