interface Place {
  readonly size: number
  holders: number
}

/**
 * Tracks the cached files, the attempts that hold them, and the next file to evict. It does no disk I/O; it calls the
 * given function to delete a file.
 */
export class CacheEntries {
  readonly #maxBytes: number
  readonly #evict: (key: string) => void
  /** In the order of their last use. */
  readonly #places = new Map<string, Place>()
  /** Files that are held before they were fetched: they must not be evicted when they arrive. */
  readonly #awaited = new Map<string, number>()
  #bytes = 0

  constructor(maxBytes: number, evict: (key: string) => void) {
    this.#maxBytes = maxBytes
    this.#evict = evict
  }

  get bytes(): number {
    return this.#bytes
  }

  has(key: string): boolean {
    return this.#places.has(key)
  }

  /** A held file is not evicted. Each call needs its own release. */
  hold(key: string): void {
    const place = this.#places.get(key)
    if (place === undefined) {
      this.#awaited.set(key, (this.#awaited.get(key) ?? 0) + 1)
      return
    }
    place.holders++
    this.#places.delete(key)
    this.#places.set(key, place)
  }

  release(key: string): void {
    const place = this.#places.get(key)
    if (place !== undefined) place.holders--
    else {
      const left = (this.#awaited.get(key) ?? 1) - 1
      if (left === 0) this.#awaited.delete(key)
      else this.#awaited.set(key, left)
    }
    this.#makeRoom()
  }

  add(key: string, size: number): void {
    if (this.#places.has(key)) return
    this.#places.set(key, { size, holders: this.#awaited.get(key) ?? 0 })
    this.#awaited.delete(key)
    this.#bytes += size
    this.#makeRoom()
  }

  #makeRoom(): void {
    if (this.#bytes <= this.#maxBytes) return
    for (const [key, { size, holders }] of this.#places) {
      if (holders > 0) continue
      this.#places.delete(key)
      this.#bytes -= size
      this.#evict(key)
      if (this.#bytes <= this.#maxBytes) return
    }
  }
}
