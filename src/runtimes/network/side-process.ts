import { type ChildProcess, execFile, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { NetworkUser } from './room-networks.ts'

const MOST_WORDS = 2000
const BATCH_MS = 10_000

/** A small program beside the worker. It ends when the worker does: a pipe from the worker tells it. */
export interface SideProcess {
  readonly pid: number
  /** Resolves with its words when it is ready; rejects with them when it ended before. */
  readonly ready: Promise<void>
  /** The last of what it wrote to its standard error. */
  words(): string
  /** Resolves when it is gone. */
  end(): Promise<void>
}

export interface SideProcessSpec {
  readonly argv: readonly string[]
  readonly user: NetworkUser
  /** Descriptors beyond the standard streams: `life` is closed when the worker ends, `ready` is where it says that it is ready. */
  readonly extra?: 'life and ready'
  /** It has a child of its own, which it ends when its input does: it must not be killed before. */
  readonly isGuard?: boolean
}

/**
 * Starts one. Unless it has descriptors of its own, it lives until its input ends, and is ready when it writes something.
 */
export function startBeside({ argv, user, extra, isGuard = false }: SideProcessSpec): SideProcess {
  const [program = '', ...words] = argv
  const child = spawn(program, words, {
    stdio: extra === undefined ? ['pipe', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    cwd: '/',
    detached: true, // Ctrl+C is for the worker, which ends it in its own time
    ...user,
  })
  for (const stream of child.stdio) stream?.on('error', () => {}) // how it ends is told by its exit
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
  ready.catch(() => {}) // told to whoever asks
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

/** Runs a program to its end, with this input. Throws with its words when it fails. */
export function runToEnd(argv: readonly string[], input: string, user: NetworkUser): Promise<string> {
  const [program = '', ...words] = argv
  return new Promise((resolve, reject) => {
    const options = { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }, cwd: '/', timeout: BATCH_MS, ...user }
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error((stderr || error.message).trim().slice(-MOST_WORDS)))
    })
    child.stdin?.on('error', () => {}) // it has ended, and its words say why
    child.stdin?.end(input)
  })
}
