import { describe, expect, test } from 'vitest'
import { counterOf, usageIn } from '../../bench/cpu-group.ts'
import { abba } from '../../bench/peers/order.ts'
import { reportOf } from '../../bench/peers/report.ts'
import { listOfRows, PEER_ROWS, type PeerRow, rowsNamed } from '../../bench/peers/rows.ts'
import type { Sample } from '../../bench/peers/sample.ts'

describe('the order of measurement windows', () => {
  test('is ABBA, so that every contestant has the same average position', () => {
    expect(abba(['a', 'b'], 2).join('')).toBe('abbaabba')
    const order = abba(['a', 'b', 'c'], 1)
    expect(order.join('')).toBe('abccba')
    const places = (name: string): number => order.reduce((sum, each, at) => sum + (each === name ? at : 0), 0)
    expect([places('a'), places('b'), places('c')]).toEqual([5, 5, 5])
  })
})

describe('the bench rows', () => {
  test('have unique names, and the list shows each', () => {
    expect(new Set(PEER_ROWS.map(({ name }) => name)).size).toBe(PEER_ROWS.length)
    const listed = listOfRows()
      .split('\n')
      .map((line) => line.split('\t')[0])
    expect(listed).toEqual([...PEER_ROWS.map(({ name }) => name), 'all'])
  })

  test('are selected by name or by "all"', () => {
    expect(rowsNamed(['write', 'snippets']).map(({ name }) => name)).toEqual(['write', 'snippets'])
    expect(rowsNamed(['all'])).toBe(PEER_ROWS)
    expect(() => rowsNamed(['wrote'])).toThrow('no row is named wrote')
  })

  test('divide their open calls evenly over up to four connections', () => {
    for (const { open } of PEER_ROWS) for (const each of open) expect(each % Math.min(each, 4)).toBe(0)
  })
})

describe('the bench report', () => {
  const row: PeerRow = { ...(PEER_ROWS[0] as PeerRow), open: [1, 8] }
  const sample = (more: Partial<Sample>): Sample => ({
    contestant: 'windlass',
    open: 1,
    units: 10,
    cpuUs: 10_000,
    p50Ms: 2,
    p99Ms: 4,
    load: 1.5,
    ...more,
  })
  const lineOf = (samples: readonly Sample[], peer: string): string[] =>
    reportOf(row, { samples, absences: [] })
      .split('\n')
      .filter((line) => line.includes(` | ${peer} | `) && /^\| \d/.test(line))

  test('compares medians per unit with those of each peer', () => {
    const samples = [
      ...[10_000, 90_000, 11_000].map((cpuUs) => sample({ cpuUs })),
      ...[40_000, 44_000, 1_000].map((cpuUs) => sample({ contestant: 'peer', cpuUs, units: 20, p50Ms: 8, p99Ms: 4 })),
    ]
    expect(lineOf(samples, 'peer')).toEqual([
      '| 1 | peer | 1.10 ms | 2.00 ms | 0.55 | 2.00 ms | 8.00 ms | 0.25 | 4.00 ms | 4.00 ms | 1.00 | 1.5 |',
    ])
  })

  test('has one line per number of open calls', () => {
    const samples = [1, 8].flatMap((open) => [
      sample({ open }),
      sample({ open, contestant: 'peer', cpuUs: open * 10_000 }),
    ])
    expect(lineOf(samples, 'peer').map((line) => line.split(' | ')[4])).toEqual(['1.00', '0.13'])
  })

  test('prints our own figures without a peer, and the reason why each peer is absent', () => {
    const text = reportOf(row, { samples: [sample({})], absences: ['bb_storage: not on PATH'] })
    expect(text).toContain('| 1 |  | 1.00 ms |  |  | 2.00 ms |')
    expect(text).toContain('- not measured: bb_storage: not on PATH')
  })
})

describe('the CPU counter', () => {
  test('prefers cpuacct of cgroup v1, then cgroup v2, and is undefined without both', () => {
    const one = { version: 1, controllers: ['cpuacct'], path: '/v1' } as const
    const two = { version: 2, controllers: [], path: '/v2' } as const
    expect(counterOf([two, one])).toMatchObject({ count: 'cgroup v1', parent: '/v1' })
    expect(counterOf([{ ...one, controllers: ['memory'] }, two])).toMatchObject({ count: 'cgroup v2', parent: '/v2' })
    expect(counterOf([{ ...one, controllers: ['memory'] }])).toBeUndefined()
  })

  test('reads microseconds from cpu.stat', () => {
    expect(usageIn('usage_usec 123456\nuser_usec 100000\nsystem_usec 23456\n')).toBe(123_456)
    expect(usageIn('nr_periods 0\n')).toBeNaN()
  })
})
