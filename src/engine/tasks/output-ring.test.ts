import { describe, expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../model/caller.ts'
import { memoryJournal } from '../../storage/journal/memory-journal.ts'
import { openGrid, text, turns } from '../grid.fixture.ts'
import { OutputRing } from './output-ring.ts'

describe('output of a running task', () => {
  test('several listeners read the output, each from its own position, also one that joins late', async () => {
    const ring = new OutputRing(100)
    let wakes = 0
    const first = ring.listen(() => wakes++)
    ring.add({ stream: 'stdout', attempt: 1, bytes: Buffer.from('one ') })
    ring.add({ stream: 'stderr', attempt: 1, bytes: Buffer.from('two ') })
    await turns(1)
    expect(wakes).toBe(1)
    expect(text(first.next()?.bytes)).toBe('one ')
    const second = ring.listen(() => {})
    expect([second.next(), second.next(), second.next()].map((piece) => text(piece?.bytes))).toEqual([
      'one ',
      'two ',
      undefined,
    ])
    expect(first.next()).toMatchObject({ stream: 'stderr', attempt: 1, missed: 0 })
    expect(first.isEnded).toBe(false)
    ring.end()
    await turns(1)
    expect([wakes, first.isEnded, first.next()]).toEqual([2, true, undefined])
    first.close()
    ring.add({ stream: 'stdout', attempt: 1, bytes: Buffer.from('more') })
    await turns(1)
    expect(wakes).toBe(2)
  })

  test('output that is not read in time is dropped, and the reader gets the number of missed bytes', () => {
    const ring = new OutputRing(10)
    const reader = ring.listen(() => {})
    for (let i = 0; i < 10; i++) ring.add({ stream: 'stdout', attempt: 1, bytes: Buffer.from('abcd') })
    const pieces = [reader.next(), reader.next(), reader.next()]
    expect(pieces.map((piece) => piece?.missed)).toEqual([32, 0, undefined])
    ring.add({ stream: 'stdout', attempt: 1, bytes: Buffer.from('0123456789ABCDEF') })
    const last = reader.next()
    expect([last?.missed, text(last?.bytes)]).toEqual([6, '6789ABCDEF'])
  })

  test('a piece has its offset in the stream when the worker counts bytes, also after a cut', () => {
    const ring = new OutputRing(4)
    const reader = ring.listen(() => {})
    ring.add({ stream: 'stdout', attempt: 1, bytes: Buffer.from('abcdef'), at: 10 })
    expect(reader.next()).toMatchObject({ at: 12, missed: 2 })
  })

  test('the ring copies its bytes: the caller may reuse the buffer at once', () => {
    const ring = new OutputRing(10)
    const bytes = Buffer.from('abc')
    ring.add({ stream: 'stdout', attempt: 1, bytes: bytes })
    bytes.fill(0)
    expect(text(ring.listen(() => {}).next()?.bytes)).toBe('abc')
  })

  test('the ring takes output only from the current attempt and its worker, and ends with the task', async () => {
    const grid = await openGrid(memoryJournal())
    const w1 = grid.worker('w1')
    const { operation, task } = await grid.submit()
    const listener = grid.engine.listenOutput(LOCAL_CALLER, operation, () => {})
    const attemptId = w1.leases[0]?.attemptId ?? ''
    const print = (id: string, words: string, worker = 'w1') =>
      grid.engine.workers.output({ worker, attemptId: id, stream: 'stdout', bytes: Buffer.from(words) })
    print(attemptId, 'hello')
    print(`${task}.1-77`, 'from an attempt that never was')
    print(attemptId, 'from somebody else', 'w2')
    expect(() => print('nonsense', 'x')).toThrow('is not the id of an attempt')
    await w1.finish()
    expect(text(listener?.next()?.bytes)).toBe('hello')
    expect([listener?.next(), listener?.isEnded]).toEqual([undefined, true])
    expect(grid.engine.listenOutput(LOCAL_CALLER, operation, () => {})).toBeUndefined()
  })
})
