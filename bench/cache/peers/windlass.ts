/** Windlass as released: its command, with defaults. */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Contestant } from '../contestant.ts'
import { type Spawned, spawnServer } from './spawned.ts'

export const PROGRAM = resolve(import.meta.dirname, '../../../bin/windlass')

export interface Running extends AsyncDisposable {
  readonly port: number
  readonly server: Spawned
}

/** Starts the server alone, or with a worker (`up`). */
export async function runWindlass(folder: string, command: 'server' | 'up' = 'server'): Promise<Running> {
  mkdirSync(folder, { recursive: true })
  const addresses = ['--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0']
  const args = [command, ...addresses, '--data', join(folder, 'data'), '--json']
  const server = spawnServer({ program: PROGRAM, args, folder })
  const ready = JSON.parse(await server.firstLine()) as { grpc: string }
  const port = Number(/:(\d+)$/.exec(ready.grpc)?.[1])
  return { port, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

export async function startWindlass(folder: string): Promise<Contestant> {
  const { port, server } = await runWindlass(folder)
  return {
    name: 'windlass',
    durability: 'written to a pack before the answer, and survives the end of the process; synced later',
    readCheck: 'CRC-32 on the first read after opening',
    command: 'bin/windlass server --grpc 127.0.0.1:0 --http 127.0.0.1:0 --data DIR --json',
    port: () => port,
    usage: () => server.usage(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
