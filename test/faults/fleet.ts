/** A server and some workers, each a separate process; the server keeps its address across restarts. */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Mortal, mortal } from './mortal.ts'

export interface Fleet extends AsyncDisposable {
  /** `127.0.0.1:23456` */
  readonly address: string
  /** The data directory of its server. */
  readonly data: string
  readonly server: Mortal
  readonly workers: readonly Mortal[]
  /** The sum of a metric over all labels, since the server's last start. */
  counted(metric: string): Promise<number>
}

export interface FleetOptions {
  readonly folder: string
  readonly workers: number
  readonly slots: number
  /** Keys such as EXECUTION_SCHEDULER_LEASE_DURATION_SECONDS. */
  readonly settings?: Readonly<Record<string, string>>
  /** The name of a worker at its next start; by default the same as before. */
  readonly nameOf?: (worker: number) => string
}

/** Resolves when every process is ready. */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { folder, workers: count, slots, settings = {}, nameOf = (worker) => `worker-${worker}` } = options
  mkdirSync(folder, { recursive: true })
  const [port, httpPort] = [await steadyPort(), await steadyPort()]
  const [address, http] = [`127.0.0.1:${port}`, `127.0.0.1:${httpPort}`]
  const env = Object.fromEntries(Object.entries(settings).map(([key, value]) => [`WINDLASS_${key}`, value]))
  const data = join(folder, 'server')
  const server = mortal({
    name: 'server',
    args: () => ['server', '--json', '--grpc', address, '--http', http, '--data', data],
    env,
    log: join(folder, 'server.log'),
  })
  const workers = Array.from({ length: count }, (_, i) =>
    mortal({
      name: `worker ${i}`,
      args: () => [
        ...['worker', 'daemon', '--json', '--server-url', `http://${address}`, '--backend', 'host'],
        ...['--id', nameOf(i), '--slots', `${slots}`, '--data', join(folder, `worker-${i}`)],
      ],
      env: { WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1', WINDLASS_WORKER_HEARTBEAT_INTERVAL_SECONDS: '1', ...env },
      log: join(folder, `worker-${i}.log`),
    }),
  )
  await server.start()
  await Promise.all(workers.map((worker) => worker.start()))
  return {
    address,
    data,
    server,
    workers,
    counted: (metric) => countIn(http, metric),
    async [Symbol.asyncDispose]() {
      await Promise.all([server, ...workers].map((one) => one.kill()))
    },
  }
}

async function countIn(http: string, metric: string): Promise<number> {
  const text = await fetch(`http://${http}/metrics`).then((answer) => answer.text())
  const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

const [LOWEST_PORT, HIGHEST_PORT] = [15_000, 30_000]

/**
 * A free port below the ephemeral range: while the server is down, the kernel could otherwise give its port to one of
 * its own clients, which would then connect to itself.
 */
async function steadyPort(): Promise<number> {
  for (;;) {
    const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT))
    const server = createServer()
    const isFree = await new Promise<boolean>((done) => {
      server.once('error', () => done(false)).listen(port, '127.0.0.1', () => server.close(() => done(true)))
    })
    if (isFree) return port
  }
}
