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
  /** Forwards the signal: after SIGINT its tasks finish, after SIGTERM they are killed. Resolves when it has exited. */
  stop(signal: StopSignal): Promise<void>
}

export interface LocalWorkerOptions {
  /** The program and its arguments before `worker daemon`. */
  readonly command: readonly [program: string, ...words: string[]]
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Log
  readonly reported: (status: WorkerStatus) => void
  /**
   * Called when it exited unexpectedly and is restarted after this many milliseconds; undefined when a restart would
   * not help.
   */
  readonly ended: (why: string, nextMs: number | undefined) => void
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A worker that ran at least this long did not fail at startup. */
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
    const reported = (status: WorkerStatus): void => {
      hasReported = true
      if (status.kind === 'failed') isLasting = status.isLasting
      options.reported(status)
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
    const child = spawnWorker(options, { reported, gone })
    reloadChild = () => {
      if (hasReported) child.kill('SIGHUP') // before its report the signal would end it
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
  reported(status: WorkerStatus): void
  gone(why: string): void
}

function spawnWorker({ command, args, env }: LocalWorkerOptions, { reported, gone }: ChildListener): ChildProcess {
  const [program, ...words] = command
  // The child has its own process group: Ctrl+C goes to this process, which forwards it. Its input is never written to:
  // it ends with this process.
  const child = spawn(program, [...words, 'worker', 'daemon', '--while-input', ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
    detached: true,
  })
  child.stdin.on('error', () => {}) // it has exited; reported below
  createInterface({ input: child.stdout }).on('line', (line) => {
    const status = statusFromLine(line)
    if (status !== undefined) reported(status)
  })
  child.on('error', (error) => gone(error.message))
  // `close` comes after its last line was read, while `exit` may come before.
  child.on('close', (code, signal) => gone(signal ?? `exit code ${code}`))
  return child
}
