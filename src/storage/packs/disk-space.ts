import { FaultError } from '../../base/fault.ts'

const RETRY_AFTER_MS = 10_000

/**
 * Limits the disk space of the store. Writes wait while reclaiming frees space. When only pinned blobs are left, writes
 * fail with a retry time. Reads never wait.
 */
export class DiskSpace {
  readonly #limit: number
  readonly #used: () => number
  /** Bytes of uploads that are not yet in a pack. */
  #incoming = 0
  readonly #waiting: { bytes: number; resolve(): void; reject(error: FaultError): void }[] = []
  /** Starts making space. */
  reclaim: () => void = () => {}
  #stuckAt: number | undefined
  readonly #stepBytes: number

  /** After reclaiming freed nothing, it is retried when `stepBytes` more were written, or when a blob was unpinned. */
  constructor(limit: number, stepBytes: number, used: () => number) {
    this.#limit = limit
    this.#stepBytes = stepBytes
    this.#used = used
  }

  get isStuck(): boolean {
    return this.#stuckAt !== undefined && this.bytes < this.#stuckAt + this.#stepBytes
  }

  get bytes(): number {
    return this.#used() + this.#incoming
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Throws when this many bytes exceed the limit even of an empty store. */
  mayEverHold(bytes: number): void {
    if (bytes > this.#limit) throw this.#fault()
  }

  /** Resolves when this many bytes may be written. */
  wait(bytes: number): void | Promise<void> {
    if (this.bytes + bytes <= this.#limit) return
    this.mayEverHold(bytes)
    if (this.isStuck) throw this.#fault()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject })
      this.reclaim()
    })
  }

  /** Like `wait`, for bytes that are not in a pack yet: they count until `give`. */
  async take(bytes: number): Promise<void> {
    await this.wait(bytes)
    this.#incoming += bytes
  }

  give(bytes: number): void {
    this.#incoming -= bytes
    if (bytes > 0) this.freed()
  }

  /** To be called when space was freed, or may have been. */
  freed(): void {
    this.#stuckAt = undefined
    while (this.#waiting.length > 0) {
      const first = this.#waiting[0]
      if (first === undefined || this.bytes + first.bytes > this.#limit) return
      this.#waiting.shift()
      first.resolve()
    }
  }

  /** To be called when nothing more can be evicted: all waiting writes fail. */
  stuck(): void {
    this.#stuckAt = this.bytes
    for (const { reject } of this.#waiting.splice(0)) reject(this.#fault())
  }

  #fault(): FaultError {
    return new FaultError({ kind: 'exhausted', resource: 'storage for blobs', retryAfterMs: RETRY_AFTER_MS })
  }
}
