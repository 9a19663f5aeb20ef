import { type ChildProcess, execFile, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { NetworkUser } from './room-networks.ts'

const MOST_WORDS = 2000
const BATCH_MS = 10_000

/** A helper process beside the worker. It ends with the worker: a pipe from the worker closes. */
export interface SideProcess {
  readonly pid: number
  /** Resolves when the process is ready. Rejects with its error output when it ends before that. */
  readonly ready: Promise<void>
  /** The end of its standard error. */
  words(): string
  /** Resolves when it has exited. */
  end(): Promise<void>
}

export interface SideProcessSpec {
  readonly argv: readonly string[]
  readonly user: NetworkUser
  /**
   * Descriptors beyond the standard streams: `life` closes when the worker ends; on `ready` the program reports that it
   * is ready.
   */
  readonly extra?: 'life and ready'
  /** The process ends its own child when its input ends, so it must not be killed before that. */
  readonly isGuard?: boolean
}

/** Starts a helper process. Without `extra` it runs until its input ends, and is ready when it writes output. */
export function startBeside({ argv, user, extra, isGuard = false }: SideProcessSpec): SideProcess {
  const [program = '', ...words] = argv
  const child = spawn(program, words, {
    stdio: extra === undefined ? ['pipe', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    cwd: '/',
    detached: true, // Ctrl+C ends the worker, which then ends this process
    ...user,
  })
  for (const stream of child.stdio) stream?.on('error', () => {}) // its exit code reports how it ended
  const said = gathered(child)
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const signal = (extra === undefined ? child.stdout : child.stdio[4]) as Readable | null
  const ready = new Promise<void>((resolve, reject) => {
    signal?.once('data', () => resolve())
    child.once('error', (error) => reject(error))
    child.once('close', () => reject(new Error(said().trim() || `${program} ended at once`)))
  })
  ready.catch(() => {}) // reported to each caller of `ready`
  return {
    pid: child.pid ?? 0,
    ready,
    words: () => said().trim(),
    async end() {
      child.stdin?.end()
      if (!isGuard) child.kill('SIGKILL')
      await gone
      for (const stream of child.stdio) stream?.destroy()
    },
  }
}

function gathered({ stderr }: ChildProcess): () => string {
  let text = ''
  stderr?.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(-MOST_WORDS)
  })
  return () => text
}

/** Runs a program to its end with this input. Throws with its error output when it fails. */
export function runNetworkTool(argv: readonly string[], input: string, user: NetworkUser): Promise<string> {
  const [program = '', ...words] = argv
  return new Promise((resolve, reject) => {
    const options = { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }, cwd: '/', timeout: BATCH_MS, ...user }
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error((stderr || error.message).trim().slice(-MOST_WORDS)))
    })
    child.stdin?.on('error', () => {}) // it has exited, and its error output states why
    child.stdin?.end(input)
  })
}
