/** A server and three workers of three protocols, each a process started as users start it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { tethered } from '../../bench/child.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { type SnippetsClient, snippetsClient } from '../../src/client/snippets/snippets.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const WINDLASS = join(ROOT, 'bin/windlass')
const EXAMPLE = join(ROOT, 'examples/websocket-worker.mjs')

export const WAYS = ['grpc', 'http', 'websocket'] as const
export type Way = (typeof WAYS)[number]

/** The slots of each worker; the example has this number hard-coded. */
export const SLOTS = 4
const LANGUAGES = ['python', 'javascript', 'bash', 'c']
const START_MS = 300_000

const SERVER = {
  EXECUTION_SCHEDULER_LEASE_DURATION_SECONDS: '20',
  EXECUTION_SCHEDULER_HEARTBEAT_TIMEOUT_SECONDS: '20', // the example sends a heartbeat every ten seconds
  WORKER_HEARTBEAT_INTERVAL_SECONDS: '5', // what the server expects of workers
  EXECUTION_SCHEDULER_RECONNECT_GRACE_SECONDS: '5',
  SNIPPETS_ALLOW_BARE: 'true', // the example does not isolate the code that it runs
}
const WORKER = {
  WORKER_HOST_MIN_FREE_BYTES: '1',
  WORKER_HEARTBEAT_INTERVAL_SECONDS: '2',
  WORKER_LANGUAGES: LANGUAGES.join(','),
  WORKER_MAX_CONCURRENT_TASKS: `${SLOTS}`,
}

export interface ThreeWays extends AsyncDisposable {
  readonly client: SnippetsClient
  /** Sends SIGKILL. */
  kill(way: Way): Promise<void>
  /** Failed attempts, from the server's log. */
  lost(): readonly LostAttempt[]
  /** Errors in the server's log: there must be none. */
  errors(): readonly string[]
  /** The last 2,000 characters of each process's log, for a failed run. */
  logs(): string
}

export interface LostAttempt {
  readonly worker: string
  readonly what: string
  /** Milliseconds since 1970. */
  readonly at: number
}

export const workerName = (way: Way): string => `by-${way}`

export async function threeWays(folder: string): Promise<ThreeWays> {
  const children = new Map<string, ChildProcess>()
  const start = (name: string, argv: readonly string[], settings: Record<string, string>): ChildProcess => {
    const own = join(folder, name)
    mkdirSync(own)
    chmodSync(own, 0o777) // rooms belong to other users
    const log = openSync(join(folder, `${name}.log`), 'a')
    const env = { ...machine(), TMPDIR: own, WINDLASS_SERVER_DATA_DIR: own, ...prefixed(settings) }
    const [program = '', ...args] = argv
    const child = tethered(spawn(program, args, { stdio: ['ignore', 'pipe', log], env }))
    closeSync(log)
    children.set(name, child)
    return child
  }
  const stop = async (): Promise<void> => {
    for (const child of children.values()) await killed(child)
  }
  const logs = (): string =>
    [...children.keys()]
      .map((name) => `${name}: ${readFileSync(join(folder, `${name}.log`), 'utf8').slice(-2000)}`)
      .join('\n')
  try {
    const flags = ['server', '--json', '--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0']
    const { grpc, http } = JSON.parse(await firstLine(start('server', [WINDLASS, ...flags], SERVER)))
    const worker = (way: Way, url: string) =>
      start(way, [WINDLASS, 'worker', 'daemon', '--json', '--protocol', way, '--server-url', url], {
        ...WORKER,
        WORKER_WORKER_ID: workerName(way),
      })
    const ready = [firstLine(worker('grpc', `http://${grpc}`)), firstLine(worker('http', `http://${http}`))]
    start('websocket', [process.execPath, EXAMPLE, `ws://${http}/api/v1/workers/connect`, workerName('websocket')], {})
    await Promise.all(ready)
    const client = snippetsClient({ url: `http://${http}`, clock: systemClock })
    await allOffer(client)
    const kill = async (way: Way) => killed(children.get(way))
    const notes = () => readFileSync(join(folder, 'server.log'), 'utf8').split('\n')
    const lost = () => notes().flatMap(lostIn)
    const errors = () => notes().filter((line) => line.includes('"level":"error"'))
    return { client, kill, lost, errors, logs, [Symbol.asyncDispose]: stop }
  } catch (error) {
    const printed = logs()
    await stop()
    throw new Error(`they did not come up: ${error}\n${printed}`, { cause: error })
  }
}

/** Without this user's own settings, and with the machine's language runtimes rather than the user's. */
const machine = (): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(WINDLASS|NODE|VITEST)_/.test(name))),
  PATH: '/usr/bin:/bin',
})

const prefixed = (settings: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [`WINDLASS_${key}`, value]))

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('it has no output')
  const lines = createInterface({ input: child.stdout })
  const [line] = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('it ended before it was ready'))),
    sleep(START_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('it was not ready in time'))),
  ])
  return String(line)
}

/** Each worker registers its languages in its own time: waits until each of the three workers has run a probe. */
async function allOffer(client: SnippetsClient): Promise<void> {
  const latest = performance.now() + START_MS
  const seen = new Set<string>()
  while (seen.size < WAYS.length) {
    if (performance.now() > latest) throw new Error(`only these take tasks: ${[...seen].join(', ')}`)
    const probe = { language: 'python', code: 'import time; time.sleep(0.2)', metadata: { run: 'probe' } }
    const tasks = await Promise.all(Array.from({ length: 2 * SLOTS }, () => client.run(probe).catch(() => undefined)))
    for (const task of tasks) if (task?.assignedClient !== undefined) seen.add(task.assignedClient)
    await sleep(100)
  }
}

function lostIn(line: string): LostAttempt[] {
  if (!line.includes('"attempt failed, task will be retried"')) return []
  const { worker, what, time } = JSON.parse(line)
  return [{ worker, what, at: Date.parse(time) }]
}

async function killed(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
