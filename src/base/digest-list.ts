import { DIGEST_FUNCTIONS, type Digest, type DigestFunction, type DigestList } from './digest.ts'
import { isSize } from './digest-text.ts'

/** The value of a lower-case hex digit by its ASCII code; 16 for everything else, upper case included. */
const HEX_VALUES = new Uint8Array(256).fill(16)
for (let value = 0; value < 16; value += 1) HEX_VALUES[value.toString(16).charCodeAt(0)] = value

/** The value of two hex digits in a row, by both character codes; negative when one is not a digit. */
const PAIRS = new Int16Array(65_536).fill(-1)
for (let value = 0; value < 256; value += 1) {
  const digits = value.toString(16).padStart(2, '0')
  PAIRS[(digits.charCodeAt(0) << 8) | digits.charCodeAt(1)] = value
}

/**
 * Collects digests in flat arrays that grow by doubling. Each digest is validated when it is added: `false` means that
 * it was not a hash of this function or not a size, and that nothing was added.
 */
export class DigestListBuilder {
  readonly fn: DigestFunction
  readonly width: number
  #count = 0
  #hashes: Uint8Array
  /** The same memory; every hash is a whole number of words, low byte first as on all machines that we run on. */
  #words: Uint32Array
  #sizes: Float64Array

  constructor(fn: DigestFunction, capacity = 16) {
    this.fn = fn
    this.width = DIGEST_FUNCTIONS[fn].hashBytes
    this.#hashes = new Uint8Array(capacity * this.width)
    this.#words = new Uint32Array(this.#hashes.buffer)
    this.#sizes = new Float64Array(capacity)
  }

  get count(): number {
    return this.#count
  }

  add(hash: string, size: number): boolean {
    if (hash.length !== this.width * 2 || !isSize(size)) return false
    const target = this.#room()
    let wrong = 0
    for (let from = 0, to = this.#count * this.width; from < hash.length; from += 2, to += 1) {
      const a = hash.charCodeAt(from)
      const b = hash.charCodeAt(from + 1)
      const high = HEX_VALUES[a & 255] as number
      const low = HEX_VALUES[b & 255] as number
      wrong |= high | low | ((a | b) & ~255) // a code past 255 would wrap round the table
      target[to] = (high << 4) | low
    }
    return wrong < 16 && this.#take(size)
  }

  /** The hash is `2 * width` ASCII digits that start at `at`: a message's field, where it lies in the receive buffer. */
  addAscii(bytes: Uint8Array, at: number, size: number): boolean {
    if (at < 0 || at + this.width * 2 > bytes.length || !isSize(size)) return false
    this.#room()
    const words = this.#words
    let to = (this.#count * this.width) >>> 2
    let wrong = 0
    // A word a turn, each pair of digits looked up as one: a third faster than digit by digit and byte by byte.
    for (let from = at, end = at + this.width * 2; from < end; from += 8, to += 1) {
      const first = PAIRS[((bytes[from] as number) << 8) | (bytes[from + 1] as number)] as number
      const second = PAIRS[((bytes[from + 2] as number) << 8) | (bytes[from + 3] as number)] as number
      const third = PAIRS[((bytes[from + 4] as number) << 8) | (bytes[from + 5] as number)] as number
      const fourth = PAIRS[((bytes[from + 6] as number) << 8) | (bytes[from + 7] as number)] as number
      wrong |= first | second | third | fourth
      words[to] = first | (second << 8) | (third << 16) | (fourth << 24)
    }
    return wrong >= 0 && this.#take(size)
  }

  /** The hash is `width` raw bytes that start at `at`. */
  addRaw(bytes: Uint8Array, at: number, size: number): boolean {
    if (at < 0 || at + this.width > bytes.length || !isSize(size)) return false
    const target = this.#room()
    const to = this.#count * this.width
    for (let i = 0; i < this.width; i += 1) target[to + i] = bytes[at + i] as number
    return this.#take(size)
  }

  /** The list shares the builder's arrays, so this is the last thing to ask of it. */
  build(): DigestList {
    const { fn, width } = this
    const hashes = this.#hashes.subarray(0, this.#count * width)
    return { fn, width, count: this.#count, hashes, sizes: this.#sizes.subarray(0, this.#count) }
  }

  #room(): Uint8Array {
    if (this.#count < this.#sizes.length) return this.#hashes
    const capacity = Math.max(16, this.#count * 2)
    const hashes = new Uint8Array(capacity * this.width)
    const sizes = new Float64Array(capacity)
    hashes.set(this.#hashes)
    sizes.set(this.#sizes)
    this.#hashes = hashes
    this.#words = new Uint32Array(hashes.buffer)
    this.#sizes = sizes
    return hashes
  }

  #take(size: number): true {
    this.#sizes[this.#count] = size
    this.#count += 1
    return true
  }
}

/** For a few digests from our own code. Throws when one is malformed or belongs to another function. */
export function digestListOf(fn: DigestFunction, digests: readonly Digest[]): DigestList {
  const builder = new DigestListBuilder(fn, digests.length)
  for (const digest of digests) {
    if (digest.fn !== fn || !builder.add(digest.hash, digest.size)) {
      throw new Error(`${digest.fn} ${digest.hash}/${digest.size} does not belong in a list of ${fn}`)
    }
  }
  return builder.build()
}

export function digestAt(list: DigestList, index: number): Digest {
  const { buffer, byteOffset } = list.hashes
  const hash = Buffer.from(buffer, byteOffset + index * list.width, list.width).toString('hex')
  return { fn: list.fn, hash, size: list.sizes[index] as number }
}

/** A view, not a copy. */
export const hashAt = (list: DigestList, index: number): Uint8Array =>
  list.hashes.subarray(index * list.width, (index + 1) * list.width)

/** At most `count` digests from `from` on; a view, not a copy. */
export function partOf({ fn, width, hashes, sizes }: DigestList, from: number, count: number): DigestList {
  const part = sizes.subarray(from, from + count)
  return {
    fn,
    width,
    count: part.length,
    hashes: hashes.subarray(from * width, (from + part.length) * width),
    sizes: part,
  }
}
