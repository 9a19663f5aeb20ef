import { fdatasync } from 'node:fs'
import type { Fault } from '../../../base/fault.ts'

/**
 * Syncs SQLite's log to disk, one sync at a time, while commits continue. Calls that are committed during a sync wait
 * for the next one and share it. A failed fdatasync cannot be retried, because the kernel may have dropped the data and
 * reports the error only once. So after a failure, `power` is refused until the journal is opened again.
 */
export class LogSync {
  readonly #fd: number
  readonly #done: (upTo: number, fault: Fault | undefined) => void
  #requested = 0
  #isRunning = false
  #fault: Fault | undefined
  #idle: (() => void) | undefined

  constructor(fd: number, done: (upTo: number, fault: Fault | undefined) => void) {
    this.#fd = fd
    this.#done = done
  }

  /** Requests a sync. All calls up to this number are committed. */
  want(upTo: number): void {
    this.#requested = upTo
    if (this.#fault !== undefined) this.#done(upTo, this.#fault)
    else if (!this.#isRunning) this.#run()
  }

  async settled(): Promise<void> {
    if (this.#isRunning)
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
  }

  #run(): void {
    const upTo = this.#requested
    this.#isRunning = true
    fdatasync(this.#fd, (error) => {
      this.#isRunning = false
      if (error !== null) {
        const what = `fdatasync of the journal failed (${error.message}): until a restart of the server, new tasks may not survive a power failure`
        this.#fault = { kind: 'unavailable', what }
      }
      this.#done(this.#fault === undefined ? upTo : this.#requested, this.#fault)
      if (this.#requested > upTo && this.#fault === undefined) this.#run()
      else this.#idle?.()
    })
  }
}
