/** Starts a Windlass server and one worker, as shipped, as separate processes: their CPU time is counted separately. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Spawned, spawnServer } from '../../cache/peers/spawned.ts'
import { type Running, runWindlass } from '../../cache/peers/windlass.ts'
import { usageOf } from '../../cache/process-usage.ts'
import { countingGroup, cpuMsOf } from '../../rooms/counting-group.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../bin/windlass')

export interface Worker extends AsyncDisposable {
  readonly process: Spawned
  readonly slots: number
  /** The CPU time of the worker, its spawner and all commands, from a control group where there is one. */
  cpuUs(): number
}

export async function startServer(folder: string): Promise<Running> {
  return runWindlass(join(folder, 'server'))
}

export interface WorkerRequest {
  readonly port: number
  readonly slots: number | undefined
  readonly backend: string
}

export async function startWorker(folder: string, { port, slots, backend }: WorkerRequest): Promise<Worker> {
  const own = join(folder, 'worker')
  mkdirSync(own, { recursive: true })
  const flags = slots === undefined ? [] : ['--slots', `${slots}`]
  const args = [
    ...['worker', 'daemon', '--json', '--server-url', `http://127.0.0.1:${port}`, '--backend', backend],
    ...['--data', join(own, 'data'), ...flags],
  ]
  const process = spawnServer({ program: PROGRAM, args, folder: own })
  const group = countingGroup(`windlass-bench-grid-${process.pid}`)
  group?.add(process.pid)
  const ready = JSON.parse(await process.firstLine()) as { slots: number }
  return {
    process,
    slots: ready.slots,
    cpuUs: () => (group === undefined ? usageOf(process.pid).cpuUs : cpuMsOf(group.path) * 1000),
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]()
      group?.remove()
    },
  }
}
