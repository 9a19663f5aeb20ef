/**
 * The usage of all instances and invocations, in one flat array indexed by account number. All heaps are ordered by these
 * figures, and a flat array shows whether a heap entry is stale without loading the instance or invocation. A usage only
 * grows, except when an account number is reused.
 */
export class UsageLedger {
  /** Usage and credit of each account, side by side because a charge writes both. */
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

  /** Raises the usage to `floor` if it is lower. */
  raise(number: number, floor: number): void {
    if (this.get(number) < floor) this.#figures[2 * number] = floor
  }

  /** Charges an amount. The account's credit pays first. */
  add(number: number, amount: number): void {
    const figures = this.#figures
    const credit = figures[2 * number + 1] as number
    const paid = Math.min(credit, amount)
    figures[2 * number + 1] = credit - paid
    figures[2 * number] = (figures[2 * number] as number) + amount - paid
  }

  /** Adds an excess charge to the account's credit. */
  credit(number: number, amount: number): void {
    this.#figures[2 * number + 1] = (this.#figures[2 * number + 1] as number) + amount
  }
}
