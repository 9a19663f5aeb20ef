/**
 * Keeps SQLite's log short. A checkpoint writes and syncs what may be tens of megabytes, and on the writer's own connection
 * everyone would wait for it (8 to 80 ms, measured): so another thread makes it beside the writing. It never catches up
 * with a writer that never rests, and the log can only begin anew when nothing in it is left: once the log is long, the
 * writer finishes the little that is left of a checkpoint that was just made and synced, and waits for the disk that once.
 */
import { Worker } from 'node:worker_threads'
import type { Database } from './fact-statements.ts'
import type { Checkpointed, ThreadSettings } from './thread-messages.ts'

export interface LogLimits {
  /** A checkpoint begins after so much was written. */
  readonly grownBytes: number
  /** A log that is longer begins anew, at the price of one wait. A frame is a page, of 8 KiB. */
  readonly mostFrames: number
}

const LIMITS: LogLimits = { grownBytes: 16 * 1024 * 1024, mostFrames: 16 * 1024 }

const SOURCE = new URL('./keeper-thread.ts', import.meta.url)
/** The same file as it is published. */
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

  /** After a commit of so many bytes. */
  wrote(bytes: number): void {
    this.#grown += bytes
    if (this.#grown >= this.#limits.grownBytes && !this.#isBusy) this.#ask()
  }

  /** Resolves when no checkpoint is being made. */
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
    // Without it the log only grows longer: another is started when there is more.
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
        // Somebody reads, or the disk is full: the log has all of it, and the next checkpoint tries again.
      }
    }
    this.#rest()
  }

  #rest(): void {
    this.#isBusy = false
    this.#idle?.()
  }
}
