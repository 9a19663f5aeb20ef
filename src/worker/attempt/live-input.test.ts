import { expect, test } from 'vitest'
import { liveInput } from './live-input.ts'

const typed = (text: string) => ({ kind: 'bytes', bytes: Buffer.from(text) }) as const

function watched() {
  const taken: number[] = []
  const done: string[] = []
  const input = liveInput({ attached: () => done.push('attached'), taken: (number) => taken.push(number) })
  const control = {
    signal: (name: string) => void done.push(name),
    resize: ({ rows, columns }: { rows: number; columns: number }) => void done.push(`${rows} ${columns}`),
  }
  return { input, taken, done, control }
}

test('bytes are acknowledged at the next read, and an end event ends stdin', async () => {
  const { input, taken, control } = watched()
  input.give(1, typed('a'))
  const attached = input.attach({ hasTerminal: false })
  attached.control(control)
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

test('on a terminal an end event is Ctrl-D, and more bytes may follow it', async () => {
  const { input, taken } = watched()
  const pieces = input.attach({ hasTerminal: true }).stdin[Symbol.asyncIterator]()
  input.give(1, { kind: 'end' })
  input.give(2, typed('x'))
  expect(await pieces.next()).toMatchObject({ value: Buffer.from([4]) })
  expect(await pieces.next()).toMatchObject({ value: Buffer.from('x') })
  expect(taken).toEqual([1])
})

test("signals and sizes wait for the command's control, but not for unread bytes", () => {
  const { input, taken, done, control } = watched()
  input.give(1, typed('unread'))
  input.give(2, { kind: 'signal', signal: 'SIGINT' })
  const attached = input.attach({ hasTerminal: true })
  expect(done).toEqual(['attached'])
  attached.control(control)
  input.give(3, { kind: 'resize', size: { rows: 2, columns: 3 } })
  expect(done).toEqual(['attached', 'SIGINT', '2 3'])
  expect(taken).toEqual([]) // input 1 is not acknowledged
})

test('a repeated input is applied once, and an acknowledgement is sent again', async () => {
  const { input, taken, done, control } = watched()
  const attached = input.attach({ hasTerminal: false })
  attached.control(control)
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

test('an unknown kind of input is acknowledged and ignored', () => {
  const { input, taken, control } = watched()
  input.attach({ hasTerminal: false }).control(control)
  input.give(1, undefined)
  expect(taken).toEqual([1])
})
