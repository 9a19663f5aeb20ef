import { expect, test } from 'vitest'
import type { OutputPiece } from '../../engine/tasks/output-ring.ts'
import { StreamPosition } from './output-place.ts'

const piece = (text: string, rest: Partial<OutputPiece> = {}): OutputPiece => ({
  at: undefined,
  stream: 'stdout',
  attempt: 1,
  bytes: Buffer.from(text),
  missed: 0,
  ...rest,
})

const told = (place: StreamPosition, ...pieces: readonly OutputPiece[]): unknown[] =>
  pieces.map((one) => {
    const taken = place.take(one)
    return taken && [taken.missed, Buffer.from(taken.bytes).toString()]
  })

test('only pieces of the own stream are taken', () => {
  const place = new StreamPosition('stdout', 0)
  expect(told(place, piece('a'), piece('noise', { stream: 'stderr' }), piece('b'))).toEqual([
    [0, 'a'],
    undefined,
    [0, 'b'],
  ])
  expect(place.wanted).toBe(2)
})

test('bytes that the reader already has are left out', () => {
  const place = new StreamPosition('stdout', 4)
  expect(told(place, piece('abc'), piece('def'), piece('ghi'))).toEqual([undefined, [0, 'ef'], [0, 'ghi']])
})

test('with offsets from the worker, missed bytes are counted exactly', () => {
  const place = new StreamPosition('stdout', 0)
  const pieces = [
    piece('abc', { at: 0 }),
    piece('xyz', { at: 10, missed: 100 }),
    piece('z!', { at: 12 }),
    piece('end', { at: 20 }),
  ]
  expect(told(place, ...pieces)).toEqual([
    [0, 'abc'],
    [7, 'xyz'],
    [0, '!'],
    [6, 'end'],
  ])
  expect(place.wanted).toBe(23)
})

test('without offsets, missed bytes may belong to either stream, and the position is lost', () => {
  const place = new StreamPosition('stdout', 0)
  expect(told(place, piece('abc'), piece('def', { missed: 5 }), piece('ghi'))).toEqual([
    [0, 'abc'],
    [5, 'def'],
    [0, 'ghi'],
  ])
  expect(place.wanted).toBeUndefined()
})

test('the next attempt continues at the position of the reader', () => {
  const place = new StreamPosition('stdout', 0)
  expect(
    told(place, piece('abc'), piece('ab', { attempt: 2 }), piece('cde', { attempt: 2 }), piece('f', { attempt: 2 })),
  ).toEqual([[0, 'abc'], undefined, [0, 'de'], [0, 'f']])
  expect(place.wanted).toBe(6)
})
