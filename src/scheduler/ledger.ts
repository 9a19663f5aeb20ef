/**
 * What each instance and invocation has been served, by a small number of its own. Flat, because all orders in here are
 * by these figures: whether an entry of a heap is out of date is seen without touching the thing that it stands for.
 * What is served only grows, but for numbers that were given back and are somebody else's now.
 */
export class Ledger {
  served = new Float64Array(1024)
  /** What was charged and turned out too much: it pays for what comes next. */
  credit = new Float64Array(1024)
  readonly #free: number[] = []
  #next = 0

  open(): number {
    const number = this.#free.pop() ?? this.#next++
    if (number >= this.served.length) {
      this.served = doubled(this.served)
      this.credit = doubled(this.credit)
    }
    this.served[number] = 0
    this.credit[number] = 0
    return number
  }

  close(number: number): void {
    this.#free.push(number)
  }

  get(number: number): number {
    return this.served[number] ?? 0
  }
}

function doubled(short: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const long = new Float64Array(2 * short.length)
  long.set(short)
  return long
}
