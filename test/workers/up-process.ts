import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

/** `windlass up`, available from the moment that it listens. */
export interface UpProcess {
  readonly url: string
  readonly grpc: string
  /** Resolves with the line that it prints when it is ready. */
  readonly ready: Promise<string>
  isReady(): boolean
  log(): readonly Record<string, unknown>[]
  signal(signal: NodeJS.Signals): void
  /** Resolves with its exit code when it has ended. */
  readonly gone: Promise<number | null>
}

export interface UpOptions {
  readonly data: string
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  /** A program with arguments that starts ours, such as one that drops privileges. */
  readonly through?: readonly string[]
}

export async function startUp({ data, env = {}, flags = [], through = [] }: UpOptions): Promise<UpProcess> {
  const addresses = ['--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0']
  const [program = WINDLASS, ...args] = [...through, WINDLASS, 'up', '--json', ...addresses, '--data', data, ...flags]
  const fixed = { WINDLASS_LOG_FORMAT: 'json', WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1' }
  const child: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...fixed, ...env },
    detached: true, // a process group of its own: the outer program does not forward signals
  })
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid as number), name)
    } catch {
      // every process has exited
    }
  }
  const gone = new Promise<number | null>((done) => child.once('close', (code) => done(code)))
  onTestFinished(async () => {
    signal('SIGTERM')
    const forced = setTimeout(() => signal('SIGKILL'), 20_000)
    await gone
    clearTimeout(forced)
  })
  const log: Record<string, unknown>[] = []
  const { promise: ready, resolve: nowReady } = Promise.withResolvers<string>()
  let isReady = false
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', (line) => {
    isReady = true
    nowReady(line)
  })
  const serving = new Promise<Record<string, unknown>>((found, failed) => {
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      const fields = fieldsIn(line)
      log.push(fields)
      if (fields.msg === 'serving') found(fields)
    })
    void gone.then((code) => failed(new Error(`windlass up ended with ${code}: ${JSON.stringify(log)}`)))
  })
  const { http, grpc } = await serving
  return {
    url: `http://${http}`,
    grpc: String(grpc),
    ready,
    isReady: () => isReady,
    log: () => log,
    signal,
    gone,
  }
}

function fieldsIn(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line)
  } catch {
    return { msg: line }
  }
}
