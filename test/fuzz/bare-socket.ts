import type { Duplex } from 'node:stream'

type Listener = (value: never) => void

/** The part of a socket that the engine needs, small enough to create five million of them. */
export class BareSocket {
  writableLength = 0
  destroyed = false
  readonly sent: Buffer[] = []
  readonly #listeners = new Map<string, readonly Listener[]>()
  #isStalled = false

  on(event: string, listener: Listener): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener])
    return this
  }

  emit(event: 'data' | 'drain' | 'close', value?: Buffer): void {
    for (const listener of this.#listeners.get(event) ?? []) (listener as (value?: Buffer) => void)(value)
  }

  write(view: Uint8Array): boolean {
    this.sent.push(Buffer.from(view))
    if (this.#isStalled) this.writableLength += view.length
    return !this.#isStalled
  }

  stall(): void {
    this.#isStalled = true
  }

  flow(): void {
    this.#isStalled = false
    this.writableLength = 0
    this.emit('drain')
  }

  end(): void {}

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }

  asDuplex(): Duplex {
    return this as unknown as Duplex
  }
}
