/**
 * Calls that wait for a free stream, first in, first out. Taking the first element of a Set again and again would walk
 * over the holes of deleted elements; here each hole is skipped once.
 */
export class CallQueue<Call> {
  #calls: (Call | undefined)[] = []
  #head = 0
  readonly #places = new Map<Call, number>()

  get size(): number {
    return this.#places.size
  }

  add(call: Call): void {
    this.#places.set(call, this.#calls.push(call) - 1)
  }

  shift(): Call | undefined {
    while (this.#head < this.#calls.length) {
      const call = this.#calls[this.#head]
      this.#calls[this.#head++] = undefined
      if (call === undefined) continue
      this.#places.delete(call)
      if (this.#places.size === 0) this.#clear()
      return call
    }
    return undefined
  }

  delete(call: Call): void {
    const place = this.#places.get(call)
    if (place === undefined) return
    this.#places.delete(call)
    this.#calls[place] = undefined
    if (this.#places.size === 0) this.#clear()
  }

  removeIf(test: (call: Call) => boolean): Call[] {
    const removed = this.#calls.filter((call) => call !== undefined && test(call)) as Call[]
    for (const call of removed) this.delete(call)
    return removed
  }

  #clear(): void {
    this.#calls = []
    this.#head = 0
  }
}
