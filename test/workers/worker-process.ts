import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { ownFolder } from './worker-here.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

export interface WorkerProcess {
  readonly pid: number
  log(): string
  /** Resolves with its exit code when it has exited. */
  readonly gone: Promise<number | null>
  signal(signal: NodeJS.Signals): void
}

/** Starts `windlass worker daemon` as users do; throws with its log when it does not start. */
export async function startWorkerProcess(address: string, flags: readonly string[] = []): Promise<WorkerProcess> {
  const { child, log, gone } = begin([
    ...['worker', 'daemon', '--json', '--server-url', `http://${address}`],
    ...['--backend', 'host', '--data', ownFolder(), ...flags],
  ])
  const line = await Promise.race([firstLine(child), gone])
  if (typeof line !== 'string') throw new Error(`the worker did not start: ${log()}`)
  return { pid: child.pid as number, log, gone, signal: (signal) => void child.kill(signal) }
}

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs a windlass command to its end. */
export async function windlass(...argv: readonly string[]): Promise<Ran> {
  const { child, log, gone } = begin(argv)
  let out = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  return { code: await gone, out, err: log() }
}

function begin(argv: readonly string[]) {
  const env = { ...process.env, WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1' }
  const child = spawn(WINDLASS, argv, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const gone = new Promise<number | null>((done) => child.once('close', (code) => done(code)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await gone
  })
  return { child: child as ChildProcess, log: () => log, gone }
}

const firstLine = ({ stdout }: ChildProcess): Promise<string> =>
  new Promise((done) => {
    if (stdout !== null) createInterface({ input: stdout }).once('line', done)
  })
