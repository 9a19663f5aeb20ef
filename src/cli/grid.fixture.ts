import { spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { loadConfig } from '../app/config/load.ts'
import { pause, systemClock } from '../app/process/clock.ts'
import type { Terminal } from '../app/process/terminal.ts'
import { type RunningWorker, startWorker } from '../app/worker/worker.ts'
import { FaultError } from '../base/fault.ts'
import { silentLog } from '../base/log.ts'
import { type RunningTestServer, runningServer } from '../testing/running-server.ts'
import { taskCommand } from './grid/task.ts'
import type { Stdio } from './output/run-stdio.ts'
import { run } from './program.ts'
import { runCommand } from './run/run.ts'
import { ExitRequest } from './session/verdict.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-grid-'))
chmodSync(folder, 0o755) // commands may run as another user
const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

let server: RunningTestServer
let worker: RunningWorker

/** A complete server with a worker, for all tests of a file. */
export function useGrid(settings: Readonly<Record<string, string>> = {}): void {
  beforeAll(async () => {
    server = await runningServer(join(folder, 'data'), settings)
    worker = await workerFor(server.target, 'w1')
  })
  afterAll(async () => {
    await worker.stop()
    await server.stop()
    rmSync(folder, { recursive: true })
  })
}

export async function workerFor(target: string, id: string): Promise<RunningWorker> {
  const env = {
    WINDLASS_SERVER_DATA_DIR: join(folder, id),
    WINDLASS_WORKER_WORKER_ID: id,
    WINDLASS_WORKER_SERVER_URL: target.replace('grpc:', 'http:'),
    WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '2',
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
    WINDLASS_WORKER_BACKEND: 'host',
    WINDLASS_WORKER_HEARTBEAT_INTERVAL_SECONDS: '0.1',
    WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '1',
  }
  const { config } = loadConfig({ env, home: folder })
  return await startWorker(config, { clock: systemClock, log: silentLog, env: { PATH: '/usr/bin:/bin' } })
}

export const target = (): string => server.target

export interface Seat {
  readonly isTerminal?: boolean
  readonly at?: string
  /** Records all output, and can send signals. */
  readonly onShown?: (text: string, signals: EventEmitter) => void
}

export interface Seen {
  readonly code: number
  readonly out: string
  readonly err: string
  /** Both, in output order. */
  readonly all: string
  /** The exit codes with which the process was to end immediately. */
  readonly exits: readonly number[]
}

/** Runs a command line in this process. */
export async function windlass(argv: readonly string[], seat: Seat = {}): Promise<Seen> {
  const shown: [stream: 'out' | 'err', text: string][] = []
  const signals = new EventEmitter()
  const exits: number[] = []
  const show = (stream: 'out' | 'err', text: string): void => {
    shown.push([stream, text])
    seat.onShown?.(text, signals)
  }
  const { isTerminal = false } = seat
  const terminal: Terminal = {
    ...{ env: {}, home: folder, self: ['windlass'], platform: 'test' },
    ...{ outIsTerminal: isTerminal, errIsTerminal: isTerminal },
    signals: Object.assign(signals, { exit: (code: number) => void exits.push(code) }),
    out: (text) => show('out', text),
    err: (text) => show('err', text),
  }
  const shows = (stream: 'out' | 'err') => async (bytes: Uint8Array) => {
    show(stream, `${Buffer.from(bytes)}`)
    return true
  }
  const stdio: Stdio = { stdout: shows('out'), stderr: shows('err') }
  const [name, ...words] = argv
  const at = seat.at ?? server.target
  const given = at === '' ? words : ['--server', at, ...words]
  const make = MAKES[name ?? '']
  const code =
    make === undefined ? await run([name ?? '', ...given], terminal) : await ran(make(terminal, stdio), given, terminal)
  const only = (name: 'out' | 'err') => shown.flatMap(([stream, text]) => (stream === name ? [text] : [])).join('')
  return { code, out: only('out'), err: only('err'), all: shown.map(([, text]) => text).join(''), exits }
}

/** Commands that print bytes, which bypass the terminal. */
const MAKES: Readonly<Record<string, (terminal: Terminal, stdio: Stdio) => Command>> = {
  run: runCommand,
  task: taskCommand,
}

async function ran(command: Command, argv: readonly string[], { err }: Terminal): Promise<number> {
  try {
    await command.exitOverride().parseAsync(argv, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof ExitRequest) return error.exitCode
    if (!(error instanceof FaultError)) throw error
    err(`windlass: ${error.message}\n`)
    return error.fault.kind === 'invalid' ? 2 : 1
  }
}

/** The real program, as users start it. */
export function started(...argv: readonly string[]) {
  const child = spawn(WINDLASS, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  const seen = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    seen.err += text
  })
  const gone = new Promise<number | null>((done) => child.once('close', (code) => done(code)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  return { child, seen, gone }
}

let names = 0
/** A path that does not exist yet. */
export const fresh = (): string => join(folder, `f${names++}`)

/** A directory with these files. */
export function directoryWith(files: Readonly<Record<string, string>>): string {
  const path = fresh()
  mkdirSync(path)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

/** Waits for a condition; the time limit only ends a failing test. */
export async function until(isSo: () => boolean | Promise<boolean>, mostMs = 120_000): Promise<void> {
  const end = systemClock.monotonic() + mostMs
  while (!(await isSo())) {
    if (systemClock.monotonic() > end) throw new Error('it did not come about')
    await pause(10)
  }
}
