import { expect, test } from 'vitest'
import { FaultError } from '../../../base/fault.ts'
import { unpackCalls } from '../fact-unpacking.ts'
import { accepted, leased } from '../facts.fixture.ts'
import { RecordQueue } from './record-queue.ts'
import type { Packed } from './thread-messages.ts'

function queue() {
  const sent: Packed[] = []
  const told: string[] = []
  const records = new RecordQueue((pack) => sent.push(pack))
  const record = (name: string, durability: 'process' | 'power', bytes = 10): void => {
    records.add([accepted(name, { spec: Buffer.alloc(bytes) })], durability).then(
      (late) => told.push(`${name} ${late.length === 0 ? 'done' : `late for ${late}`}`),
      (error: FaultError) => told.push(`${name} ${error.fault.kind}`),
    )
  }
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const toldNow = async () => {
    await turn()
    return told.splice(0).join(', ')
  }
  return { records, record, sent, turn, toldNow }
}

const commit = (upTo: number) => ({ kind: 'committed', upTo, late: [], failed: [] }) as const

test('calls of one loop turn are sent together at its end', async () => {
  const { records, record, sent, turn } = queue()
  record('a', 'process')
  record('b', 'power')
  expect(sent).toHaveLength(0)
  await turn()
  records.add([leased('a', 1), leased('b', 2)], 'process').catch(() => {})
  await turn()
  expect(sent.map(({ first, power }) => `${first} ${power}`)).toEqual(['1 true', '3 false'])
  expect(sent.map(({ memory, size }) => unpackCalls(memory, size).map((facts) => facts.length))).toEqual([[1, 1], [2]])
  await turn()
  expect(sent).toHaveLength(2)
})

test('2 MB of facts are sent before the end of the loop turn', () => {
  const { record, sent } = queue()
  record('a', 'process')
  record('b', 'process', 2_000_000)
  record('c', 'process')
  expect(sent.map(({ first }) => first)).toEqual([1])
})

test('a call with durability power resolves after the sync; one with durability process does not wait', async () => {
  const { records, record, toldNow } = queue()
  for (const name of ['a', 'c', 'e']) {
    record(name, 'power')
    record(`${name}+`, 'process')
  }
  records.committed(commit(4))
  expect(await toldNow()).toBe('a+ done, c+ done')
  records.synced(2, undefined)
  expect(await toldNow()).toBe('a done')
  records.committed(commit(6))
  records.synced(6, { kind: 'unavailable', what: 'the disk is gone' })
  expect(await toldNow()).toBe('e+ done, c unavailable, e unavailable')
  expect(records.waiting).toBe(0)
})

test('each call gets its own failure and its own late tasks', async () => {
  const { records, record, toldNow } = queue()
  for (const name of ['a', 'b', 'c', 'd']) record(name, name === 'c' ? 'power' : 'process')
  records.committed({
    kind: 'committed',
    upTo: 3,
    late: [{ call: 3, tasks: ['t'] }],
    failed: [{ call: 2, fault: { kind: 'invalid', what: 'no' } }],
  })
  records.synced(3, undefined)
  expect(await toldNow()).toBe('a done, b invalid, c late for t')
  records.fail(new FaultError({ kind: 'unavailable', what: 'the thread is gone' }))
  expect(await toldNow()).toBe('d unavailable')
})

test('5,000 calls resolve in order', async () => {
  const { records, record, toldNow } = queue()
  for (let i = 1; i <= 5000; i++) record(`${i}`, 'process')
  for (let i = 1; i <= 5000; i += 7) records.committed(commit(i))
  records.committed(commit(5000))
  expect(await toldNow()).toBe(Array.from({ length: 5000 }, (_, i) => `${i + 1} done`).join(', '))
})

test('1,000 committed calls resolve in order over several loop turns, or at once with settle()', async () => {
  const { records, turn } = queue()
  const told: number[] = []
  for (let i = 1; i <= 1000; i++) records.add([leased('t', i)], 'process').then(() => told.push(i))
  await turn()
  records.committed(commit(700))
  await Promise.resolve()
  const atFirst = told.length
  expect(atFirst).toBeGreaterThan(0)
  expect(atFirst).toBeLessThan(300)
  records.committed(commit(1000)) // also resolved in a later turn
  await turn()
  expect(told.length).toBeLessThan(700)
  expect(records.waiting).toBeGreaterThan(0)
  records.settle()
  await Promise.resolve()
  expect(told).toEqual(Array.from({ length: 1000 }, (_, i) => i + 1))
  expect(records.waiting).toBe(0)
})
