import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { slots } from './slots.ts'

test('as many run as there are processors, and the rest in the order in which they came', async () => {
  const two = slots(2)
  const begun: string[] = []
  const take = (name: string, count: number) =>
    two.take(count).then((giveBack) => {
      begun.push(name)
      return giveBack
    })
  const [first, second, large, small] = [take('first', 1), take('second', 1), take('large', 5), take('small', 1)]
  await setImmediate()
  expect(begun).toEqual(['first', 'second'])
  const giveBack = await first
  giveBack()
  giveBack() // a second call has no effect
  await setImmediate()
  expect(begun).toEqual(['first', 'second']) // the large one needs all, and is not overtaken
  const giveBackSecond = await second
  giveBackSecond()
  await setImmediate()
  expect(begun).toEqual(['first', 'second', 'large'])
  const giveBackLarge = await large
  giveBackLarge()
  await small
})
