import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { cutFrames, type Frame } from './http2-frames.ts'

/**
 * A socket without a network: what it is given to send it takes at once, or, once told to stall, only when asked to.
 * It notices when bytes that it has not taken yet are changed behind its back.
 */
export class FakeDuplex extends EventEmitter {
  writableLength = 0
  destroyed = false
  isEnded = false
  isStalled = false
  /** How many times something was written, and how many of those writes found the bytes changed when taken. */
  writes = 0
  spoilt = 0
  readonly #sent: Buffer[] = []
  readonly #waiting: { view: Uint8Array; copy: Buffer }[] = []

  write(view: Uint8Array): boolean {
    const copy = Buffer.from(view)
    this.writes++
    this.#sent.push(copy)
    if (!this.isStalled) return true
    this.#waiting.push({ view, copy })
    this.writableLength += view.length
    return false
  }

  /** The network takes the oldest `count` writes, and says so when none is left. */
  take(count = Number.POSITIVE_INFINITY): void {
    for (const { view, copy } of this.#waiting.splice(0, Math.min(count, this.#waiting.length))) {
      if (copy.compare(view) !== 0) this.spoilt++
      this.writableLength -= view.length
    }
    if (this.#waiting.length === 0) this.emit('drain')
  }

  /** From now on everything is taken as soon as it is written. */
  flow(): void {
    this.isStalled = false
    this.take()
  }

  stall(): void {
    this.isStalled = true
  }

  end(): void {
    this.isEnded = true
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }

  /** Bytes from the peer. They are lent for the time of the event, and spoilt after it. */
  receive(...bytes: readonly Uint8Array[]): void {
    for (const piece of bytes) {
      const lent = Buffer.from(piece)
      this.emit('data', lent)
      lent.fill(0xdb)
    }
  }

  /** Everything written since the last time this was asked. */
  taken(): Buffer {
    return Buffer.concat(this.#sent.splice(0))
  }

  frames(): Frame[] {
    return cutFrames(this.taken())
  }

  asDuplex(): Duplex {
    return this as unknown as Duplex
  }
}
