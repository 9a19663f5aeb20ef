import type { UsageLedger } from './usage-ledger.ts'

export interface Heaped {
  /** Whether a heap holds it; set by the heap. */
  heaped: boolean
  /** Whose share it is ordered by: the number in the ledger. */
  readonly number: number
  isEmpty(): boolean
}

/**
 * Least served first, over items whose figures grow behind the heap's back. An item is looked at only when it surfaces:
 * if its figure has grown it sinks to where it belongs, and if it has nothing to offer it is let go. So serving one
 * instance costs nothing in all the heaps that it also stands in.
 *
 * The key and the ledger's number of an item lie side by side in one flat array: moving items about touches that and
 * the list of them, and never an item.
 */
export class LazyHeap<Item extends Heaped> {
  readonly #ledger: UsageLedger
  readonly #order: number[] = []
  readonly #items: Item[] = []

  constructor(ledger: UsageLedger) {
    this.#ledger = ledger
  }

  /** Those that ran dry and have not surfaced since are among them. */
  get size(): number {
    return this.#items.length
  }

  /** What was let go is out of the heap already. */
  protected dropped(_item: Item): void {
    // Most who keep a heap keep nothing else by it.
  }

  add(item: Item): void {
    if (item.heaped) return
    item.heaped = true
    const order = this.#order
    const { number } = item
    const key = this.#ledger.get(number)
    let at = this.#items.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      if ((order[2 * parent] as number) <= key) break
      this.#move(parent, at)
      at = parent
    }
    order[2 * at] = key
    order[2 * at + 1] = number
    this.#items[at] = item
  }

  first(): Item | undefined {
    const order = this.#order
    while (this.#items.length > 0) {
      const item = this.#items[0] as Item
      const number = order[1] as number
      const key = this.#ledger.get(number)
      if (key !== order[0]) this.#sink(key, number, item)
      else if (!item.isEmpty()) return item
      else this.#drop(item)
    }
    return undefined
  }

  /** It ran dry just now. As the first it is let go at once, while it is at hand; else when it surfaces. */
  ranDry(item: Item): void {
    if (this.#items[0] === item) this.#drop(item)
  }

  #drop(first: Item): void {
    this.#removeFirst()
    this.dropped(first)
  }

  /** The first few, in order. */
  leading(count: number): Item[] {
    const found: Item[] = []
    while (found.length < count) {
      const item = this.first()
      if (item === undefined) break
      found.push(item)
      this.#removeFirst()
    }
    for (const item of found) this.add(item)
    return found
  }

  /** The items in no order, those that ran dry too, by the number of each: see whether it is the one that you mean. */
  protected withNumber(number: number, wanted: (item: Item) => boolean): Item | undefined {
    const order = this.#order
    for (let at = 0; at < this.#items.length; at++) {
      if (order[2 * at + 1] !== number) continue
      const item = this.#items[at] as Item
      if (wanted(item)) return item
    }
    return undefined
  }

  protected get items(): readonly Item[] {
    return this.#items
  }

  #removeFirst(): void {
    const [first] = this.#items
    if (first !== undefined) first.heaped = false
    const number = this.#order.pop() as number
    const key = this.#order.pop() as number
    const item = this.#items.pop() as Item
    if (this.#items.length > 0) this.#sink(key, number, item)
  }

  #sink(key: number, number: number, item: Item): void {
    const order = this.#order
    const { length } = this.#items
    let at = 0
    for (let child = 1; child < length; child = 2 * at + 1) {
      if (child + 1 < length && (order[2 * child + 2] as number) < (order[2 * child] as number)) child++
      // Equals go first: who was just served waits for the others.
      if ((order[2 * child] as number) > key) break
      this.#move(child, at)
      at = child
    }
    order[2 * at] = key
    order[2 * at + 1] = number
    this.#items[at] = item
  }

  #move(from: number, to: number): void {
    const order = this.#order
    order[2 * to] = order[2 * from] as number
    order[2 * to + 1] = order[2 * from + 1] as number
    this.#items[to] = this.#items[from] as Item
  }
}
