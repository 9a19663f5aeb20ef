import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

export interface ServerProcess {
  /** The gRPC address. */
  readonly grpc: string
  readonly http: string
  /** The line that the server printed when it was listening. */
  readonly first: { readonly ready: boolean; readonly reasons?: readonly string[] }
  readonly pid: number
  /** The log so far. */
  log(): string
  isAlive(): boolean
  /** Sends SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>
  /** Stops it gracefully, so that it closes its store. */
  stop(): Promise<void>
}

/** Starts the program on free ports, as users start it; throws with its log when it does not start. */
export async function startProcess(dataDir: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  const flags = ['server', '--json', '--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0', '--data', dataDir]
  const child = spawn(WINDLASS, flags, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const gone = new Promise<void>((done) => child.once('close', () => done()))
  const first = await Promise.race([firstLine(child), gone])
  if (first === undefined) throw new Error(`the server did not start: ${log}`)
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await gone
  }
  return {
    grpc: JSON.parse(first).grpc,
    http: JSON.parse(first).http,
    first: JSON.parse(first),
    pid: child.pid as number,
    log: () => log,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

const firstLine = ({ stdout }: ChildProcess): Promise<string> =>
  new Promise((done) => {
    if (stdout !== null) createInterface({ input: stdout }).once('line', done)
  })
