import { expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { messageBatches } from './message-batches.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function lists() {
  const clock = manualClock()
  const posted: (readonly string[])[] = []
  return { clock, posted, say: messageBatches<string>((list) => posted.push(list), clock) }
}

test('messages of one loop turn are posted together at its end', async () => {
  const { posted, say } = lists()
  say('a')
  say('b')
  expect(posted).toEqual([])
  await turn()
  say('c')
  await turn()
  expect(posted).toEqual([['a', 'b'], ['c']])
})

test('a deferred message is posted with the next message, in order', async () => {
  const { clock, posted, say } = lists()
  say('a', true)
  await turn()
  say('b', true)
  await turn()
  expect(posted).toEqual([])
  say('now')
  await turn()
  expect(posted).toEqual([['a', 'b', 'now']])
  clock.advance(1000)
  expect(posted).toHaveLength(1)
})

test('deferred messages are posted alone after 20 ms', async () => {
  const { clock, posted, say } = lists()
  say('a', true)
  say('b', true)
  clock.advance(20)
  say('c', true)
  clock.advance(20)
  expect(posted).toEqual([['a', 'b'], ['c']])
})
