import { expect, test } from 'vitest'
import { FairQueue } from './fair-queue.ts'

interface Item {
  readonly instance: string
  readonly submission: string
  readonly n: number
}

const queueOf = (...items: readonly Item[]): FairQueue<Item> => {
  const queue = new FairQueue<Item>()
  for (const item of items) queue.add(item)
  return queue
}
const many = (instance: string, submission: string, count: number): Item[] =>
  Array.from({ length: count }, (_, n) => ({ instance, submission, n }))
const name = (item: Item | undefined): string | undefined => item && `${item.instance}/${item.submission}/${item.n}`
/** Takes items that use 10 ms of time each. */
const run = (queue: FairQueue<Item>, count: number): (string | undefined)[] =>
  Array.from({ length: count }, () => {
    const item = queue.take()
    if (item !== undefined) queue.charge(item, 10)
    return name(item)
  })

test('the items of one submission are served in order', () => {
  expect(run(queueOf(...many('a', '1', 3)), 4)).toEqual(['a/1/0', 'a/1/1', 'a/1/2', undefined])
})

test('instances take turns, whatever the number of their submissions', () => {
  const hostile = ['1', '2', '3', '4'].flatMap((submission) => many('bad', submission, 5))
  const served = run(queueOf(...hostile, ...many('good', 'x', 5)), 10)
  expect(served.filter((one) => one?.startsWith('good'))).toHaveLength(5)
})

test('the submissions of one instance take turns', () => {
  const served = run(queueOf(...many('a', 'long', 50), ...many('a', 'short', 3)), 6)
  expect(served.filter((one) => one?.startsWith('a/short'))).toHaveLength(3)
})

test('a submission that used 100 ms waits until the others have used as much', () => {
  const queue = queueOf(...many('a', 'slow', 2), ...many('a', 'quick', 20))
  const first = queue.take()
  expect(name(first)).toBe('a/slow/0')
  queue.charge({ instance: 'a', submission: 'slow' }, 100)
  expect(run(queue, 10).every((one) => one?.startsWith('a/quick'))).toBe(true)
})

test('unused time is not saved up', () => {
  const queue = queueOf(...many('a', '1', 100))
  run(queue, 50)
  for (const item of many('b', '1', 100)) queue.add(item)
  const served = run(queue, 20)
  expect(served.filter((one) => one?.startsWith('b'))).toHaveLength(10)
})

test('an item that is not allowed now keeps its place', () => {
  const queue = queueOf(...many('a', '1', 1), ...many('b', '1', 1))
  expect(name(queue.take(({ instance }) => instance !== 'a'))).toBe('b/1/0')
  expect(queue.take(({ instance }) => instance !== 'a')).toBeUndefined()
  expect(name(queue.take())).toBe('a/1/0')
})

test('the items of a submission can be removed', () => {
  const queue = queueOf(...many('a', '1', 3), ...many('a', '2', 1))
  expect(queue.remove({ instance: 'a', submission: '1' })).toHaveLength(3)
  expect(run(queue, 2)).toEqual(['a/2/0', undefined])
})
