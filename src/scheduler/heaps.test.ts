import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeyedHeap } from './keyed-heap.ts'
import { LazyHeap } from './shares/lazy-heap.ts'
import { type Heaped, UsageLedger } from './shares/usage-accounts.ts'

test('a keyed heap returns its items in the order of their keys', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (keys) => {
      const heap = new KeyedHeap<number>()
      for (const key of keys) heap.push(key, key)
      const given: number[] = []
      for (let item = heap.pop(); item !== undefined; item = heap.pop()) given.push(item)
      expect(given).toEqual(keys.toSorted((one, other) => one - other))
    }),
  )
})

/** An item with an account in the ledger. */
class Party implements Heaped {
  readonly ledger: UsageLedger
  readonly number: number
  heaped = false
  dry = false

  constructor(ledger: UsageLedger, served: number) {
    this.ledger = ledger
    this.number = ledger.open()
    this.serve(served)
  }

  get served(): number {
    return this.ledger.get(this.number)
  }

  serve(amount: number): void {
    this.ledger.add(this.number, amount)
  }
}

function heapOf(served: readonly number[]): { heap: LazyHeap<Party>; parties: Party[] } {
  const ledger = new UsageLedger()
  const heap = new LazyHeap<Party>(ledger, { isEmpty: ({ dry }) => dry })
  const parties = served.map((amount) => new Party(ledger, amount))
  for (const party of parties) heap.add(party)
  return { heap, parties }
}

test('a lazy heap finds the least usage, although it is not notified when usage grows or items become empty', () => {
  const changes = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 20 }), fc.boolean()))
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 10 }), changes, (served, grows) => {
      const { heap, parties } = heapOf(served)
      for (const [which, by, dry] of grows) {
        const party = parties[which % parties.length] as Party
        party.serve(by)
        party.dry = dry
        heap.add(party)
        const least = Math.min(...parties.filter((one) => !one.dry).map((one) => one.served))
        expect(heap.first()?.served ?? Number.POSITIVE_INFINITY).toBe(least)
      }
    }),
  )
})

test('among items with equal usage, the one that was just served waits for the others', () => {
  const { heap, parties } = heapOf([0, 0])
  for (let i = 0; i < 6; i++) heap.first()?.serve(1)
  expect(parties.map(({ served }) => served)).toEqual([3, 3])
})

test('the leading items are returned in order and stay in the heap', () => {
  const { heap } = heapOf([5, 1, 4, 2, 3])
  expect(heap.leading(3).map(({ served }) => served)).toEqual([1, 2, 3])
  expect(heap.leading(9).map(({ served }) => served)).toEqual([1, 2, 3, 4, 5])
})

test('a ledger grows, and reuses the numbers of closed accounts', () => {
  const ledger = new UsageLedger()
  const numbers = Array.from({ length: 3000 }, () => ledger.open())
  expect(new Set(numbers).size).toBe(3000)
  ledger.add(2999, 7)
  ledger.close(2999)
  expect(ledger.open()).toBe(2999)
  expect(ledger.get(2999)).toBe(0)
})
