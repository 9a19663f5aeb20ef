import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { cutFrames, type Frame } from './http2-frames.ts'

/**
 * A socket without a network: it accepts writes at once or, after `stall`, only on request. It detects when bytes that
 * it has not accepted yet are changed.
 */
export class FakeDuplex extends EventEmitter {
  writableLength = 0
  destroyed = false
  isEnded = false
  isStalled = false
  /** The number of writes, and how many of them had changed bytes when accepted. */
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

  /** Accepts the oldest `count` writes, and signals a drain when none is left. */
  take(count = Number.POSITIVE_INFINITY): void {
    for (const { view, copy } of this.#waiting.splice(0, Math.min(count, this.#waiting.length))) {
      if (copy.compare(view) !== 0) this.spoilt++
      this.writableLength -= view.length
    }
    if (this.#waiting.length === 0) this.emit('drain')
  }

  /** From now on every write is accepted at once. */
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

  /** Bytes from the peer. They are valid during the event only, and overwritten after it. */
  receive(...bytes: readonly Uint8Array[]): void {
    for (const piece of bytes) {
      const lent = Buffer.from(piece)
      this.emit('data', lent)
      lent.fill(0xdb)
    }
  }

  /** Everything written since the last call. */
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
