import { expect, test } from 'vitest'
import { openEnd, sealEnd } from './end-envelope.ts'
import { openNote, sealNote } from './note-envelope.ts'
import { openSpec, sealSpec } from './spec-envelope.ts'

const digest = { fn: 'blake3', hash: 'cd'.repeat(32), size: 9 } as const

test('a spec comes out of its envelope as it went in, with all that the grid must know', () => {
  const order = {
    properties: [
      { name: 'größe', value: '☃' },
      { name: '', value: '"' },
    ],
    demands: { cpu: 2, memoryBytes: 1e9 },
    affinity: ['root'],
    timeoutMs: 5,
    estimateMs: 6,
    maxRetries: 0,
    roots: [digest],
    refusesPreemptible: true,
    interactive: true,
    cacheable: true,
  }
  const spec = Buffer.from([0, 255, 10])
  const { envelope, spec: own } = sealSpec(order, spec)
  spec.fill(7)
  expect([...own]).toEqual([0, 255, 10])
  const opened = openSpec(envelope)
  expect(opened.order).toEqual(order)
  expect([...opened.spec]).toEqual([0, 255, 10])
  expect(openSpec(sealSpec({}, new Uint8Array()).envelope).order).toMatchObject({ properties: [], cacheable: false })
  expect(() => openSpec(Buffer.from([200, 0, 0, 0]))).toThrow('shorter')
  expect(() => openSpec(Buffer.from('{}'))).toThrow()
})

test('an end comes out of its envelope as it went in, with and without a result', () => {
  const end = {
    why: 'poison',
    queuedAt: 1.5e12,
    startedAt: undefined,
    unstarted: 0,
    cached: true,
    result: undefined,
    roots: [],
  } as const
  expect(openEnd(sealEnd(end))).toEqual(end)
  const full = { ...end, why: 'result', startedAt: 1.6e12, result: Buffer.from('done'), roots: [digest] } as const
  expect(openEnd(sealEnd(full))).toEqual(full)
  for (const unstarted of [1, 300, 65_535]) {
    expect(openEnd(sealEnd({ ...end, unstarted }))).toEqual({ ...end, unstarted })
    expect(openEnd(sealEnd({ ...full, unstarted }))).toEqual({ ...full, unstarted })
  }
  expect(openEnd(sealEnd({ ...end, unstarted: 1 }).subarray(0, 19))).toMatchObject({ why: 'unrecorded' })
  expect(openEnd(sealEnd({ ...full, result: Buffer.alloc(0) })).result).toHaveLength(0)
  expect(openEnd(undefined)).toMatchObject({ why: 'unrecorded', result: undefined })
})

test('a note is there when there is something to remember', () => {
  const nothing = { needsWaiter: false, durability: 'process', note: undefined } as const
  expect(sealNote(nothing)).toBeUndefined()
  expect(openNote(undefined)).toEqual(nothing)
  const all = { needsWaiter: true, durability: 'power', note: Buffer.from('x') } as const
  expect(openNote(sealNote(all))).toEqual(all)
})
