/** A Windlass server and a worker, as released, in separate processes. */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { spawnServer } from '../../cache/peers/spawned.ts'
import { PROGRAM } from '../../cache/peers/windlass.ts'
import { OURS } from '../sample.ts'
import { type Grid, gridOf } from './grid.ts'

export interface WindlassGrid extends Grid {
  /** The base URL of the HTTP API. */
  readonly http: string
}

export interface WindlassGridOptions {
  readonly folder: string
  readonly backend: 'sandbox' | 'host'
  readonly slots: number
  readonly languages: readonly string[]
}

export async function startWindlassGrid(options: WindlassGridOptions): Promise<WindlassGrid> {
  const { folder, backend, slots, languages } = options
  const places = ['server', 'worker'].map((name) => join(folder, name))
  for (const place of places) mkdirSync(place, { recursive: true })
  for (const place of [folder, ...places]) chmodSync(place, 0o711) // the user of a sandbox must be able to enter them
  const [own = folder, worker = folder] = places
  const addresses = ['--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0']
  const args = ['server', ...addresses, '--data', join(own, 'data'), '--json']
  const server = spawnServer({ program: PROGRAM, args, folder: own })
  const { grpc, http } = JSON.parse(await server.firstLine()) as { grpc: string; http: string }
  const daemon = spawnServer({
    program: PROGRAM,
    args: [
      ...['worker', 'daemon', '--json', '--server-url', `http://${grpc}`, '--backend', backend],
      ...['--data', join(worker, 'data'), '--slots', `${slots}`],
    ],
    folder: worker,
    env: { WINDLASS_WORKER_LANGUAGES: languages.length > 0 ? languages.join(',') : ',' },
  })
  await daemon.firstLine()
  return { ...gridOf(OURS, Number(/:(\d+)$/.exec(grpc)?.[1]), [server, daemon]), http: `http://${http}` }
}
