import type { Heaped, UsageLedger } from './usage-accounts.ts'

export interface HeapRules<Item> {
  /** An empty item leaves the heap when it reaches the top. */
  readonly isEmpty: (item: Item) => boolean
  /** Called after an empty item left the heap. */
  readonly dropped?: (item: Item) => void
}

/**
 * A heap with the least usage first, over items whose usage grows without a call to the heap. The heap looks at an item
 * only when it reaches the top: an item whose usage has grown sinks to its place, and an empty item is dropped. So a
 * charge to one instance costs nothing in the many heaps that hold the instance.
 *
 * The key and the account number of each item lie side by side in one flat array. Moving items touches that array and
 * the list of items, never an item.
 */
export class LazyHeap<Item extends Heaped> {
  readonly #ledger: UsageLedger
  readonly #rules: HeapRules<Item>
  readonly #order: number[] = []
  readonly #items: Item[] = []

  constructor(ledger: UsageLedger, rules: HeapRules<Item>) {
    this.#ledger = ledger
    this.#rules = rules
  }

  /** Counts empty items that have not reached the top, too. */
  get size(): number {
    return this.#items.length
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
      else if (!this.#rules.isEmpty(item)) return item
      else this.#drop(item)
    }
    return undefined
  }

  /** The item has just become empty. The first item is dropped now, any other when it reaches the top. */
  becameEmpty(item: Item): void {
    if (this.#items[0] === item) this.#drop(item)
  }

  #drop(first: Item): void {
    this.#removeFirst()
    this.#rules.dropped?.(first)
  }

  /** The first `count` items, in order. They stay in the heap. */
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

  /** The item with this account number that `suits` accepts. Empty items are searched, too. */
  withNumber(number: number, suits: (item: Item) => boolean): Item | undefined {
    const order = this.#order
    for (let at = 0; at < this.#items.length; at++) {
      if (order[2 * at + 1] !== number) continue
      const item = this.#items[at] as Item
      if (suits(item)) return item
    }
    return undefined
  }

  /** All items, unordered. */
  get items(): readonly Item[] {
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
      // Items with an equal key move up: the item that was just served waits for them.
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
