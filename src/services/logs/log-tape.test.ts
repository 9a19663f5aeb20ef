import { expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { LogTape } from './log-tape.ts'

const PAGE = 16 * 1024

/** All bytes that the tape holds from `from` on. */
function held(tape: LogTape, from = 0): string {
  let text = ''
  for (let piece = tape.read(from); piece !== undefined; piece = tape.read(piece.at + piece.bytes.length))
    text += Buffer.from(piece.bytes).toString('latin1')
  return text
}

test('written bytes are read in order, from any offset', () => {
  const tape = new LogTape(1024 * 1024)
  tape.append(Buffer.from('abc'))
  tape.append(Buffer.from('def'))
  expect([held(tape), held(tape, 4), held(tape, 6)]).toEqual(['abcdef', 'ef', ''])
  expect(tape.size).toBe(6)
})

test('a long log keeps its end, and each byte keeps its offset', () => {
  const seed = seedOfRun()
  const { below } = randomFrom(seed)
  const tape = new LogTape(4 * PAGE)
  let all = ''
  for (let i = 0; i < 200; i++) {
    const piece = String.fromCharCode(97 + (i % 26)).repeat(below(3000))
    all += piece
    tape.append(Buffer.from(piece))
    expect(tape.size - tape.start, `seed ${seed}`).toBeLessThanOrEqual(4 * PAGE)
    expect(held(tape), `seed ${seed}`).toBe(all.slice(tape.start))
  }
  expect(tape.size - tape.start).toBeGreaterThan(2 * PAGE)
})

test('a piece longer than the tape keeps its end', () => {
  const tape = new LogTape(2 * PAGE)
  tape.append(Buffer.alloc(10 * PAGE + 5, 'x'))
  expect([tape.size, tape.start]).toEqual([10 * PAGE + 5, 9 * PAGE])
  expect(tape.read(0)?.at).toBe(9 * PAGE)
})

test('100,000 pieces of one byte take no more memory than one long piece', () => {
  const tape = new LogTape(4 * PAGE)
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 100_000; i++) tape.append(Buffer.of(i))
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * PAGE)
})

test('listeners are called for new bytes and for the end, until they unsubscribe', () => {
  const tape = new LogTape(PAGE)
  const heard: number[] = []
  const leave = tape.listen(() => heard.push(tape.isEnded ? -1 : tape.size))
  tape.append(Buffer.from('ab'))
  tape.append(new Uint8Array())
  tape.end()
  tape.end()
  leave()
  tape.append(Buffer.from('c'))
  expect(heard).toEqual([2, -1])
})
