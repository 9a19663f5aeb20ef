/** A server of ours and one worker, as shipped, each a process of its own: their CPU time is told apart. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Spawned, spawnServer } from '../../cache/peers/spawned.ts'
import { type Running, runWindlass } from '../../cache/peers/windlass.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../bin/windlass')

export interface Worker extends AsyncDisposable {
  readonly process: Spawned
  readonly slots: number
}

export async function startServer(folder: string): Promise<Running> {
  return runWindlass(join(folder, 'server'))
}

export async function startWorker(folder: string, port: number, slots: number | undefined): Promise<Worker> {
  const own = join(folder, 'worker')
  mkdirSync(own, { recursive: true })
  const flags = slots === undefined ? [] : ['--slots', `${slots}`]
  const args = [
    ...['worker', 'daemon', '--json', '--server-url', `http://127.0.0.1:${port}`, '--backend', 'host'],
    ...['--data', join(own, 'data'), ...flags],
  ]
  const process = spawnServer({ program: PROGRAM, args, folder: own })
  const ready = JSON.parse(await process.firstLine()) as { slots: number }
  return { process, slots: ready.slots, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() }
}
