import type { Key } from './record-format.ts'

/** Counts how often each blob is pinned. A blob may be pinned before it is stored. */
export class Roots {
  readonly #counts = new Map<string, number>()

  get size(): number {
    return this.#counts.size
  }

  has(key: Key): boolean {
    return this.#counts.size > 0 && this.#counts.has(nameOf(key))
  }

  pin(key: Key): void {
    const name = nameOf(key)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** Returns true when the blob is no longer pinned. */
  unpin(key: Key): boolean {
    const name = nameOf(key)
    const left = (this.#counts.get(name) ?? 0) - 1
    if (left > 0) this.#counts.set(name, left)
    else this.#counts.delete(name)
    return left <= 0
  }
}

const nameOf = ({ tag, hash, at, width, size }: Key): string =>
  `${tag}/${size}/${Buffer.from(hash.buffer, hash.byteOffset + at, width).toString('latin1')}`
