import { expect, test } from 'vitest'
import type { Fact } from './fact.ts'
import { FactPack } from './fact-packing.ts'
import { unpackCalls } from './fact-unpacking.ts'
import { accepted, finished, leased, requeued, started } from './facts.fixture.ts'

const MOST = 1_000_000

const FACTS: readonly Fact[] = [
  accepted('t', { note: Buffer.from('n'), labels: ['x', ''], actionKey: 'key', durability: 'power', priority: -7 }),
  accepted('日本🏗', { spec: new Uint8Array(0), actionKey: '' }),
  { kind: 'joined', task: 't', operation: 'o', note: undefined, labels: [], at: 1.5 },
  { kind: 'left', task: 't', operation: '', at: 2 ** 52 },
  { kind: 'raised', task: 't', priority: -1 },
  leased('t', 2 ** 40),
  started('t', 3),
  requeued('t', { state: 'retrying', lostWorkers: ['w1', 'w2'], faults: 2, due: 5 }),
  requeued('t', { due: undefined, faults: 0 }),
  { kind: 'offered', names: ['OSFamily', '', 'é'.repeat(40), 'x'.repeat(100)] },
  { kind: 'offered', names: [] },
  { kind: 'cancel-asked', task: 't', reason: 'r'.repeat(10_000), at: 0 },
  finished('t', undefined, { result: undefined, labels: ['failed'] }),
  finished('t', 1, { state: 'timeout', result: Buffer.alloc(70_000, 3) }),
]

/** The fields that are set, with bytes as hex. */
const plain = (calls: readonly (readonly Fact[])[]): unknown =>
  calls.map((call) =>
    call.map((fact) =>
      Object.fromEntries(
        Object.entries(fact)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]),
      ),
    ),
  )

const unpacked = (pack: FactPack): Fact[][] => {
  const { memory, size } = pack.take()
  return unpackCalls(memory, size)
}

test('unpacked facts equal the packed facts, call by call', () => {
  const pack = new FactPack()
  const calls = [FACTS, [], ...FACTS.map((fact) => [fact])]
  for (let round = 0; round < 3; round++) {
    for (const call of calls) pack.add(call, MOST)
    expect(plain(unpacked(pack))).toEqual(plain(calls))
  }
  expect(unpacked(pack)).toEqual([])
})

test('a call over the size limit is refused, and none of its facts is packed', () => {
  const pack = new FactPack()
  pack.add([started('a', 1)], MOST)
  expect(() => pack.add([started('b', 1), accepted('c', { spec: Buffer.alloc(2000) })], 1500)).toThrow(
    'more facts at once',
  )
  pack.add([started('d', 1)], MOST)
  expect(unpacked(pack)).toEqual([[started('a', 1)], [started('d', 1)]])
})

test('the caller may reuse bytes after they are packed', () => {
  const pack = new FactPack()
  const spec = Buffer.from('mine')
  pack.add([accepted('t', { spec })], MOST)
  spec.fill(0)
  expect(plain(unpacked(pack))).toMatchObject([[{ spec: Buffer.from('mine').toString('hex') }]])
})
