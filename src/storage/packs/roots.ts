import type { Key } from './record-format.ts'

/** Which blobs must not go, and for how many reasons each. A blob may be named before it comes. */
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

  /** True when that was the last reason. */
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
