/**
 * What each instance and invocation has been served, by a small number of its own. Flat, because all orders in here are
 * by these figures: whether an entry of a heap is out of date is seen without touching the thing that it stands for.
 * What is served only grows, but for numbers that were given back and are somebody else's now.
 */
export class UsageLedger {
  /** Two figures each, side by side since both are written when one is: what was served, and the credit. */
  #figures = new Float64Array(2048)
  readonly #free: number[] = []
  #next = 0

  open(): number {
    const number = this.#free.pop() ?? this.#next++
    if (2 * number >= this.#figures.length) {
      const longer = new Float64Array(2 * this.#figures.length)
      longer.set(this.#figures)
      this.#figures = longer
    }
    this.#figures[2 * number] = 0
    this.#figures[2 * number + 1] = 0
    return number
  }

  close(number: number): void {
    this.#free.push(number)
  }

  get(number: number): number {
    return this.#figures[2 * number] ?? 0
  }

  /** Not below that. */
  raise(number: number, floor: number): void {
    if (this.get(number) < floor) this.#figures[2 * number] = floor
  }

  /** Charges so much; what was charged before and turned out too much pays first. */
  add(number: number, amount: number): void {
    const figures = this.#figures
    const credit = figures[2 * number + 1] as number
    const paid = Math.min(credit, amount)
    figures[2 * number + 1] = credit - paid
    figures[2 * number] = (figures[2 * number] as number) + amount - paid
  }

  /** So much was charged and turned out too much: it pays for what comes next. */
  credit(number: number, amount: number): void {
    this.#figures[2 * number + 1] = (this.#figures[2 * number + 1] as number) + amount
  }
}
