import { spawn } from 'node:child_process'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'

/** A worker on this machine, in a process of its own, that is there for as long as it is wanted. */
export interface LocalWorker {
  /** Lets its tasks finish; resolves when it has ended. */
  stop(): Promise<void>
}

export interface LocalWorkerOptions {
  /** The program and the words before `worker daemon`. */
  readonly command: readonly [program: string, ...words: string[]]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Log
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** One that ran for so long did not fail at starting. */
const WELL_MS = 10_000

/** Starts it, and again whenever it ends unasked, with longer and longer pauses while it does not get going. */
export function startLocalWorker({ command, args, env, clock, log }: LocalWorkerOptions): LocalWorker {
  const [program, ...words] = command
  const ended = Promise.withResolvers<void>()
  let isWanted = true
  let pauseMs = FIRST_PAUSE_MS
  let endChild: () => void = () => {}
  let cancelPause: () => void = () => {}

  const start = (): void => {
    const startedAt = clock.monotonic()
    // Its own process group: Ctrl+C is for us, and we tell it.
    const child = spawn(program, [...words, 'worker', 'daemon', '--while-input', ...args], {
      stdio: ['pipe', 'ignore', 'inherit'], // nothing is written to it: it ends with us
      env,
      detached: true,
    })
    child.stdin.on('error', () => {}) // it has ended, and says so below
    let isGone = false
    const gone = (why: string): void => {
      if (isGone) return
      isGone = true
      if (!isWanted) return ended.resolve()
      pauseMs = clock.monotonic() - startedAt > WELL_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      log.warn({ why, pauseMs }, 'the worker has ended; another is started')
      cancelPause = clock.after(pauseMs, start)
    }
    child.on('error', (error) => gone(error.message))
    child.on('exit', (code, signal) => gone(signal ?? `exit code ${code}`))
    endChild = () => {
      if (isGone) ended.resolve()
      else child.kill('SIGTERM')
    }
  }
  start()
  return {
    stop() {
      if (isWanted) {
        isWanted = false
        cancelPause()
        endChild()
      }
      return ended.promise
    },
  }
}
