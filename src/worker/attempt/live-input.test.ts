import { expect, test } from 'vitest'
import { liveInput } from './live-input.ts'

const typed = (text: string) => ({ kind: 'bytes', bytes: Buffer.from(text) }) as const

function watched() {
  const taken: number[] = []
  const done: string[] = []
  const input = liveInput({ attached: () => done.push('attached'), taken: (number) => taken.push(number) })
  const reins = {
    signal: (name: string) => void done.push(name),
    resize: ({ rows, columns }: { rows: number; columns: number }) => void done.push(`${rows} ${columns}`),
  }
  return { input, taken, done, reins }
}

test('bytes are taken when more is asked for, and their end is the end', async () => {
  const { input, taken, reins } = watched()
  input.give(1, typed('a'))
  const attached = input.attach({ hasTerminal: false })
  attached.reins(reins)
  const pieces = attached.stdin[Symbol.asyncIterator]()
  expect(await pieces.next()).toMatchObject({ value: Buffer.from('a') })
  expect(taken).toEqual([])
  const next = pieces.next()
  await Promise.resolve()
  expect(taken).toEqual([1])
  input.give(2, typed('b'))
  expect(await next).toMatchObject({ value: Buffer.from('b') })
  input.give(3, { kind: 'end' })
  expect(await pieces.next()).toMatchObject({ done: true })
  expect(taken).toEqual([1, 2, 3])
})

test('at a terminal the end is a key, and there may be more after it', async () => {
  const { input, taken } = watched()
  const pieces = input.attach({ hasTerminal: true }).stdin[Symbol.asyncIterator]()
  input.give(1, { kind: 'end' })
  input.give(2, typed('x'))
  expect(await pieces.next()).toMatchObject({ value: Buffer.from([4]) })
  expect(await pieces.next()).toMatchObject({ value: Buffer.from('x') })
  expect(taken).toEqual([1])
})

test('signals and sizes do not wait for bytes that nobody reads, but wait for their command', () => {
  const { input, taken, done, reins } = watched()
  input.give(1, typed('unread'))
  input.give(2, { kind: 'signal', signal: 'SIGINT' })
  const attached = input.attach({ hasTerminal: true })
  expect(done).toEqual(['attached'])
  attached.reins(reins)
  input.give(3, { kind: 'resize', size: { rows: 2, columns: 3 } })
  expect(done).toEqual(['attached', 'SIGINT', '2 3'])
  expect(taken).toEqual([]) // the first is not
})

test('what comes twice is done once, and what was not heard to be taken is said again', async () => {
  const { input, taken, done, reins } = watched()
  const attached = input.attach({ hasTerminal: false })
  attached.reins(reins)
  input.give(1, { kind: 'signal', signal: 'SIGTERM' })
  input.give(2, typed('a'))
  input.give(1, { kind: 'signal', signal: 'SIGTERM' })
  input.give(2, typed('a'))
  expect(done).toEqual(['attached', 'SIGTERM'])
  expect(taken).toEqual([1, 1])
  const pieces = attached.stdin[Symbol.asyncIterator]()
  await pieces.next()
  void pieces.next()
  await Promise.resolve()
  expect(taken).toEqual([1, 1, 2])
})

test('what nobody here knows is passed over', () => {
  const { input, taken, reins } = watched()
  input.attach({ hasTerminal: false }).reins(reins)
  input.give(1, undefined)
  expect(taken).toEqual([1])
})
