import type { Ledger } from './ledger.ts'

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
 */
export class LazyHeap<Item extends Heaped> {
  readonly #ledger: Ledger
  readonly #dropped: (item: Item) => void
  readonly #keys: number[] = []
  readonly #numbers: number[] = []
  readonly #items: Item[] = []

  constructor(ledger: Ledger, dropped: (item: Item) => void) {
    this.#ledger = ledger
    this.#dropped = dropped
  }

  add(item: Item): void {
    if (item.heaped) return
    item.heaped = true
    const key = this.#ledger.get(item.number)
    let at = this.#items.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      if ((this.#keys[parent] as number) <= key) break
      this.#put(at, parent)
      at = parent
    }
    this.#set(at, key, item)
  }

  first(): Item | undefined {
    while (this.#items.length > 0) {
      const key = this.#ledger.get(this.#numbers[0] as number)
      const item = this.#items[0] as Item
      if (key !== this.#keys[0]) this.#sink(key, item)
      else if (item.isEmpty()) {
        this.#removeFirst()
        this.#dropped(item)
      } else return item
    }
    return undefined
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

  #removeFirst(): void {
    const [first] = this.#items
    if (first !== undefined) first.heaped = false
    const key = this.#keys.pop()
    this.#numbers.pop()
    const item = this.#items.pop()
    if (key !== undefined && item !== undefined && this.#items.length > 0) this.#sink(key, item)
  }

  #sink(key: number, item: Item): void {
    const { length } = this.#items
    let at = 0
    for (let child = 1; child < length; child = 2 * at + 1) {
      if (child + 1 < length && (this.#keys[child + 1] as number) < (this.#keys[child] as number)) child++
      // Equals go first: who was just served waits for the others.
      if ((this.#keys[child] as number) > key) break
      this.#put(at, child)
      at = child
    }
    this.#set(at, key, item)
  }

  #put(to: number, from: number): void {
    this.#keys[to] = this.#keys[from] as number
    this.#numbers[to] = this.#numbers[from] as number
    this.#items[to] = this.#items[from] as Item
  }

  #set(at: number, key: number, item: Item): void {
    this.#keys[at] = key
    this.#numbers[at] = item.number
    this.#items[at] = item
  }
}
