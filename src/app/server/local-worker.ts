import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { StopSignal } from '../process/shutdown.ts'
import { statusFromLine, type WorkerStatus } from '../process/worker-status.ts'

/** A worker on this machine in its own process, restarted for as long as it is wanted. */
export interface LocalWorker {
  /** Makes it reload its settings and certificates. */
  reload(): void
  /** Forwards the signal: SIGINT lets its tasks finish, SIGTERM ends them. Resolves when it has exited. */
  stop(signal: StopSignal): Promise<void>
}

export interface LocalWorkerOptions {
  /** The program and its arguments before `worker daemon`. */
  readonly command: readonly [program: string, ...words: string[]]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Log
  readonly heard: (status: WorkerStatus) => void
  /**
   * Called when it exited unexpectedly and is restarted after this many milliseconds; undefined when a restart would
   * not help.
   */
  readonly ended: (why: string, nextMs: number | undefined) => void
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A worker that ran this long did not fail at startup. */
const WELL_MS = 10_000

/** Starts it, and restarts it whenever it exits unexpectedly, with increasing pauses, unless the cause is permanent. */
export function startLocalWorker(options: LocalWorkerOptions): LocalWorker {
  const { clock, log } = options
  const ended = Promise.withResolvers<void>()
  let isWanted = true
  let pauseMs = FIRST_PAUSE_MS
  let endChild: (signal: StopSignal) => void = () => {}
  let cancelPause: () => void = () => {}
  let reloadChild: () => void = () => {}

  const start = (): void => {
    const startedAt = clock.monotonic()
    let isGone = false
    let isLasting = false
    let hasReported = false
    const heard = (status: WorkerStatus): void => {
      hasReported = true
      if (status.kind === 'failed') isLasting = status.isLasting
      options.heard(status)
    }
    const gone = (why: string): void => {
      if (isGone) return
      isGone = true
      if (!isWanted) return ended.resolve()
      if (isLasting) {
        log.error({ why }, 'worker cannot run on this machine, not restarting it')
        return options.ended(why, undefined)
      }
      pauseMs = clock.monotonic() - startedAt > WELL_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      log.warn({ why, pauseMs }, 'worker exited, starting another')
      options.ended(why, pauseMs)
      cancelPause = clock.after(pauseMs, start)
    }
    const child = spawnWorker(options, { heard, gone })
    reloadChild = () => {
      if (hasReported) child.kill('SIGHUP') // before that the signal would end it, and it has just read its settings
    }
    endChild = (signal) => {
      if (isGone) ended.resolve()
      else child.kill(signal)
    }
  }
  start()
  return {
    reload: () => reloadChild(),
    stop(signal) {
      if (isWanted) {
        isWanted = false
        cancelPause()
        endChild(signal)
      }
      return ended.promise
    },
  }
}

interface ChildListener {
  heard(status: WorkerStatus): void
  gone(why: string): void
}

function spawnWorker({ command, args, env }: LocalWorkerOptions, { heard, gone }: ChildListener): ChildProcess {
  const [program, ...words] = command
  // Its own process group: Ctrl+C goes to us, and we forward it. Nothing is written to its input: it ends when we do.
  const child = spawn(program, [...words, 'worker', 'daemon', '--while-input', ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
    detached: true,
  })
  child.stdin.on('error', () => {}) // it has exited; reported below
  createInterface({ input: child.stdout }).on('line', (line) => {
    const status = statusFromLine(line)
    if (status !== undefined) heard(status)
  })
  child.on('error', (error) => gone(error.message))
  // `close` comes after its last line was read, while `exit` may come before.
  child.on('close', (code, signal) => gone(signal ?? `exit code ${code}`))
  return child
}
