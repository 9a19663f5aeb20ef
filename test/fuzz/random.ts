/** Pseudo-random numbers, reproducible by their seed (sfc32). */
export class Random {
  #a = 0
  #b = 0
  #c = 0
  #counter = 1

  constructor(seed: number, stream = 0) {
    this.reseed(seed, stream)
  }

  reseed(seed: number, stream: number): void {
    this.#a = seed | 0
    this.#b = stream | 0
    this.#c = Math.imul(seed ^ 0x9e3779b9, stream + 0x85ebca6b)
    this.#counter = 1
    for (let i = 0; i < 12; i++) this.next()
  }

  /** 32 bits. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** From 0 to `end`, exclusive. */
  below(end: number): number {
    return this.next() % end
  }

  oneIn(count: number): boolean {
    return this.next() % count === 0
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.next() % choices.length] as T
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    for (let i = 0; i < length; i++) bytes[i] = this.next()
    return bytes
  }
}
