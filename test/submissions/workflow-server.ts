import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

export interface WorkflowServer {
  /** The address for `--server`. */
  readonly url: string
  readonly grpc: string
  readonly folder: string
  log(): string
  /** Sends SIGKILL to the server; workers keep running. */
  killServer(): Promise<void>
  /** Restarts it at the same addresses on the same data. */
  startServer(): Promise<void>
  stop(): Promise<void>
}

export interface WorkflowServerOptions {
  readonly workers?: number
  /** The slots of each worker. */
  readonly slots?: number
  readonly workerFlags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/**
 * A server and its workers as users start them, each a process, on free ports; their folder is deleted when they stop.
 */
export async function startWorkflowServer(options: WorkflowServerOptions = {}): Promise<WorkflowServer> {
  const { workers = 2, slots = 1, workerFlags = [], env = {} } = options
  const folder = mkdtempSync(join(tmpdir(), 'windlass-workflows-'))
  chmodSync(folder, 0o755) // commands run as a user of their own
  let log = ''
  let ports = { grpc: '127.0.0.1:0', http: '127.0.0.1:0' }
  const begin = (...words: readonly string[]): ChildProcess => {
    const all = { ...process.env, WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1', ...env }
    const child = spawn(WINDLASS, words, { stdio: ['ignore', 'pipe', 'pipe'], env: all })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    return child
  }
  const ready = async (child: ChildProcess): Promise<string> => {
    const line = await Promise.race([firstLine(child), gone(child)])
    if (line === undefined) throw new Error(`it did not start: ${log}`)
    return line
  }
  let server: ChildProcess | undefined
  const startServer = async (): Promise<void> => {
    const { grpc, http } = ports
    server = begin('server', '--json', '--grpc', grpc, '--http', http, '--data', join(folder, 'server'))
    ports = JSON.parse(await ready(server))
  }
  const crew: ChildProcess[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(crew.map((one) => end(one, 'SIGKILL')))
    await end(server, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await startServer()
    for (let at = 0; at < workers; at++) {
      mkdirSync(join(folder, `worker-${at}`))
      const where = ['--server-url', `http://${ports.grpc}`, '--data', join(folder, `worker-${at}`)]
      crew.push(begin('worker', 'daemon', '--json', ...where, '--slots', `${slots}`, ...workerFlags))
    }
    await Promise.all(crew.map(ready))
  } catch (error) {
    await stop() // the caller has no handle to stop it
    throw error
  }
  return {
    url: `http://${ports.http}`,
    grpc: ports.grpc,
    folder,
    log: () => log,
    startServer,
    killServer: () => end(server, 'SIGKILL'),
    stop,
  }
}

const gone = (child: ChildProcess): Promise<undefined> =>
  new Promise((done) => void child.once('close', () => done(undefined)))

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const closed = gone(child)
  child.kill(signal)
  await closed
}

const firstLine = ({ stdout }: ChildProcess): Promise<string> =>
  new Promise((done) => {
    if (stdout !== null) createInterface({ input: stdout }).once('line', done)
  })
