/**
 * Keeps SQLite's log (WAL) short. A checkpoint writes and syncs tens of megabytes. On the writer's connection all calls
 * would wait for it (measured: 8 to 80 ms), so another thread makes it. That thread never catches up with a writer that
 * never pauses, but the log can only restart when all of it is in the database. So when the log is longer than
 * `mostFrames`, the writer itself finishes the rest of a checkpoint that was just made and synced, and waits for the
 * disk once.
 */
import { Worker } from 'node:worker_threads'
import type { Database } from './fact-statements.ts'
import type { Checkpointed, ThreadSettings } from './thread-messages.ts'

export interface LogLimits {
  /** A checkpoint starts after this many bytes were written. */
  readonly grownBytes: number
  /** A longer log is restarted, while the writer waits once. A frame is a page of 8 KiB. */
  readonly mostFrames: number
}

const LIMITS: LogLimits = { grownBytes: 16 * 1024 * 1024, mostFrames: 16 * 1024 }

const SOURCE = new URL('./keeper-thread.ts', import.meta.url)
/** The path of the same file in the published package. */
const FILE = import.meta.url.endsWith('.ts') ? SOURCE : new URL(SOURCE.href.replace(/\.ts$/, '.js'))

export class LogKeeper {
  readonly #db: Database
  readonly #settings: ThreadSettings
  readonly #limits: LogLimits
  #thread: Worker | undefined
  #grown = 0
  #isBusy = false
  #idle: (() => void) | undefined

  constructor(db: Database, settings: ThreadSettings, limits: LogLimits = LIMITS) {
    this.#db = db
    this.#settings = settings
    this.#limits = limits
  }

  /** Called after each commit, with its size. */
  wrote(bytes: number): void {
    this.#grown += bytes
    if (this.#grown >= this.#limits.grownBytes && !this.#isBusy) this.#ask()
  }

  /** Resolves when no checkpoint is running. */
  async settled(): Promise<void> {
    if (this.#isBusy)
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
  }

  async close(): Promise<void> {
    await this.settled()
    await this.#thread?.terminate()
  }

  #ask(): void {
    this.#grown = 0
    this.#isBusy = true
    this.#thread ??= this.#start()
    this.#thread.postMessage('checkpoint')
  }

  #start(): Worker {
    const thread = new Worker(FILE, { workerData: this.#settings, name: 'journal keeper' })
    thread.on('message', (done: Checkpointed) => this.#hear(done))
    // Without the thread the log only grows. The next checkpoint starts another thread.
    thread.on('error', () => {
      this.#thread = undefined
      this.#rest()
    })
    return thread
  }

  #hear({ frames }: Checkpointed): void {
    if (frames >= this.#limits.mostFrames) {
      try {
        this.#db.exec('PRAGMA wal_checkpoint(RESTART)')
      } catch {
        // A reader holds the log, or the disk is full. The log still has all data; the next checkpoint retries.
      }
    }
    this.#rest()
  }

  #rest(): void {
    this.#isBusy = false
    this.#idle?.()
  }
}
