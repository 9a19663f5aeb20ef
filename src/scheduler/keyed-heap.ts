/**
 * A binary heap with the keys in a separate array: a comparison reads only numbers, and stays cheap when the items are
 * no longer in the processor's cache.
 */
export class KeyedHeap<Item> {
  readonly #keys: number[] = []
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  get first(): Item | undefined {
    return this.#items[0]
  }

  /** Infinity for an empty heap. */
  get firstKey(): number {
    return this.#keys[0] ?? Number.POSITIVE_INFINITY
  }

  push(key: number, item: Item): void {
    this.#keys.push(key)
    this.#items.push(item)
    this.#rise(this.#items.length - 1, key, item)
  }

  pop(): Item | undefined {
    const first = this.#items[0]
    const key = this.#keys.pop()
    const item = this.#items.pop()
    if (key !== undefined && this.#items.length > 0) this.#sink(key, item as Item)
    return first
  }

  #rise(from: number, key: number, item: Item): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      const parentKey = this.#keys[parent] as number
      if (parentKey <= key) break
      this.#keys[at] = parentKey
      this.#items[at] = this.#items[parent] as Item
      at = parent
    }
    this.#keys[at] = key
    this.#items[at] = item
  }

  #sink(key: number, item: Item): void {
    const { length } = this.#items
    let at = 0
    for (let child = 1; child < length; child = 2 * at + 1) {
      if (child + 1 < length && (this.#keys[child + 1] as number) < (this.#keys[child] as number)) child++
      const childKey = this.#keys[child] as number
      if (childKey >= key) break
      this.#keys[at] = childKey
      this.#items[at] = this.#items[child] as Item
      at = child
    }
    this.#keys[at] = key
    this.#items[at] = item
  }
}
