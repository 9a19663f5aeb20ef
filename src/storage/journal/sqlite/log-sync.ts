import { fdatasync } from 'node:fs'
import type { Fault } from '../../../base/fault.ts'

/**
 * Brings SQLite's log to the disk, one sync at a time and beside the commits: what is committed while one runs waits
 * for the next, and shares it. A sync that failed cannot be tried again, for the kernel may have dropped what it could
 * not write and says so only once: from then on `power` is refused until the journal is opened anew.
 */
export class LogSync {
  readonly #fd: number
  readonly #done: (upTo: number, fault: Fault | undefined) => void
  #wanted = 0
  #isRunning = false
  #fault: Fault | undefined
  #idle: (() => void) | undefined

  constructor(fd: number, done: (upTo: number, fault: Fault | undefined) => void) {
    this.#fd = fd
    this.#done = done
  }

  /** All calls up to this number are committed. */
  want(upTo: number): void {
    this.#wanted = upTo
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
    const upTo = this.#wanted
    this.#isRunning = true
    fdatasync(this.#fd, (error) => {
      this.#isRunning = false
      if (error !== null) {
        const what = `the journal could not be brought to the disk (${error.message}): nothing more is promised to outlive a power cut until the server is started again`
        this.#fault = { kind: 'unavailable', what }
      }
      this.#done(this.#fault === undefined ? upTo : this.#wanted, this.#fault)
      if (this.#wanted > upTo && this.#fault === undefined) this.#run()
      else this.#idle?.()
    })
  }
}
