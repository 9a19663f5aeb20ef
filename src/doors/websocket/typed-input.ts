import type { RawData } from 'ws'
import { FaultError } from '../../base/fault.ts'
import type { InputEvent } from '../../model/live-input.ts'

export interface TypedInputOptions {
  readonly input: (operation: string, event: InputEvent) => Promise<void>
  readonly failed: (error: unknown) => void
  /** Called when more input arrived before the program was accepted than is kept. */
  readonly tooMuch: () => void
}

/** Limit of input before the program is accepted. */
const MOST_EARLY_BYTES = 1024 * 1024
/** Counted size of an event without bytes. */
const EVENT_BYTES = 256

/** Input of a client for its program. It may come before the program is accepted. */
export class TypedInput {
  readonly #options: TypedInputOptions
  #program: string | undefined
  #early: InputEvent[] = []
  #earlyBytes = 0

  constructor(options: TypedInputOptions) {
    this.#options = options
  }

  give(event: InputEvent): void {
    if (this.#program !== undefined) return this.#send(this.#program, event)
    this.#earlyBytes += EVENT_BYTES + (event.kind === 'bytes' ? event.bytes.length : 0)
    if (this.#earlyBytes > MOST_EARLY_BYTES) return this.#options.tooMuch()
    this.#early.push(event)
  }

  accepted(program: string): void {
    this.#program = program
    for (const event of this.#early.splice(0)) this.#send(program, event)
  }

  close(): void {
    this.#early = []
  }

  #send(program: string, event: InputEvent): void {
    void this.#options.input(program, event).catch((error: unknown) => {
      const isOverAlready = error instanceof FaultError && error.fault.kind === 'absent' // the watcher gets the end
      if (!isOverAlready) this.#options.failed(error)
    })
  }
}

export function messageBytes(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
