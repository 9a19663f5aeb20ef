import { expect, test } from 'vitest'
import { manualClock } from '../../../testing/manual-clock.ts'
import { STALL_MS } from './body-pieces.ts'
import { outgoingPieces } from './outgoing-pieces.ts'

function source(count: number, fail = Number.POSITIVE_INFINITY) {
  const state = { asked: 0, ended: false }
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const buffer = new Uint8Array(4)
    try {
      for (; state.asked < count; ) {
        if (state.asked++ === fail) throw new Error('gone bad')
        yield buffer.fill(state.asked)
      }
    } finally {
      state.ended = true
    }
  }
  return { state, pieces: pieces() }
}

test('a piece is read when the one before was consumed, and its buffer is not reused', async () => {
  const { state, pieces } = source(3)
  const reader = outgoingPieces(pieces, { clock: manualClock(), cut: () => expect.fail('all is well') }).getReader()
  await new Promise((resolve) => setImmediate(resolve))
  expect(state.asked).toBe(0)
  const first = await reader.read()
  expect([first.value, state.asked]).toEqual([Uint8Array.of(1, 1, 1, 1), 1])
  await reader.read()
  expect(first.value).toEqual(Uint8Array.of(1, 1, 1, 1))
  await reader.read()
  expect(await reader.read()).toEqual({ done: true, value: undefined })
  expect(state.ended).toBe(true)
})

test('a reader that cancels ends the reading of the blob', async () => {
  const { state, pieces } = source(3)
  const clock = manualClock()
  const cuts: unknown[] = []
  const reader = outgoingPieces(pieces, { clock, cut: (why) => cuts.push(why) }).getReader()
  await reader.read()
  await reader.cancel()
  expect(state.ended).toBe(true)
  clock.advance(STALL_MS * 2)
  expect(cuts).toEqual([])
})

test('a reader that takes nothing for STALL_MS is cut off', async () => {
  const { state, pieces } = source(3)
  const clock = manualClock()
  const cuts: unknown[] = []
  const reader = outgoingPieces(pieces, { clock, cut: (why) => cuts.push(why) }).getReader()
  await reader.read()
  clock.advance(STALL_MS - 1)
  expect(cuts).toEqual([])
  await reader.read()
  clock.advance(STALL_MS)
  await new Promise((resolve) => setImmediate(resolve))
  expect(cuts).toEqual([expect.objectContaining({ message: 'the client read nothing for 120 seconds' })])
  expect(state.ended).toBe(true)
})

test('a blob that fails while it is sent is cut off, so that no client takes it as complete', async () => {
  const { pieces } = source(3, 1)
  const cuts: unknown[] = []
  const reader = outgoingPieces(pieces, { clock: manualClock(), cut: (why) => cuts.push(why) }).getReader()
  await reader.read()
  await reader.read()
  expect(cuts).toEqual([expect.objectContaining({ message: 'gone bad' })])
})
