/** Gaps per entry before the list is compacted. Removal at random leaves about seven gaps per entry. */
const MOST_GAPS = 16
/** A list with fewer gaps is not compacted. */
const FEWEST_GAPS = 64

/** An entry stores its list and its position there. */
export interface Placed<Item extends Placed<Item>> {
  stagedIn: StagedList<Item> | undefined
  stagedAt: number
}

/**
 * Entries in the order in which they were added. Most leave from the middle: each knows its position and leaves a gap
 * there, so that removal touches nothing else. Positions count from the first entry that the list ever had, so that
 * dropping the gaps in front renumbers nothing. Only a list that consists mostly of gaps is compacted.
 */
export class StagedList<Item extends Placed<Item>> {
  #places: (Item | undefined)[] = []
  /** The position of the first element of `#places`. */
  #base = 0
  #first = 0
  size = 0

  add(item: Item): void {
    item.stagedIn = this
    item.stagedAt = this.#base + this.#places.push(item) - 1
    this.size++
  }

  /** The item must be in this list. */
  delete(item: Item): void {
    const at = item.stagedAt - this.#base
    this.#places[at] = undefined
    item.stagedIn = undefined
    this.size--
    if (at === this.#first) this.#trim()
    if (this.#places.length > MOST_GAPS * this.size + FEWEST_GAPS) this.#compact()
  }

  /** Up to `count` of the oldest entries. */
  oldest(count: number): Item[] {
    const found: Item[] = []
    for (let at = this.#first; at < this.#places.length && found.length < count; at++) {
      const item = this.#places[at]
      if (item !== undefined) found.push(item)
    }
    return found
  }

  /** Skips the gaps in front, and removes them when they are half of the list. */
  #trim(): void {
    const { length } = this.#places
    while (this.#first < length && this.#places[this.#first] === undefined) this.#first++
    if (this.#first < FEWEST_GAPS || 2 * this.#first < length) return
    this.#places = this.#places.slice(this.#first)
    this.#base += this.#first
    this.#first = 0
  }

  #compact(): void {
    this.#places = this.#places.filter((item) => item !== undefined)
    this.#base = 0
    this.#first = 0
    for (const [at, item] of this.#places.entries()) if (item !== undefined) item.stagedAt = at
  }
}
