import { expect, test } from 'vitest'
import { openEnd, openNote, openSpec, sealEnd, sealNote, sealSpec } from './envelopes.ts'

const digest = { fn: 'blake3', hash: 'cd'.repeat(32), size: 9 } as const

test('a sealed spec opens with equal bytes and options', () => {
  const options = {
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
  const envelope = sealSpec(options, spec)
  spec.fill(7)
  const opened = openSpec(envelope)
  expect(opened.options).toEqual(options)
  expect([...opened.spec]).toEqual([0, 255, 10])
  expect(openSpec(sealSpec({}, new Uint8Array())).options).toMatchObject({ properties: [], cacheable: false })
  expect(() => openSpec(Buffer.from([200, 0, 0, 0]))).toThrow('shorter')
  expect(() => openSpec(Buffer.from('{}'))).toThrow()
})

test('a sealed end opens equal, with and without a result', () => {
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

test('sealNote returns no bytes when the note has only default values', () => {
  const nothing = { needsWaiter: false, durability: 'process', note: undefined } as const
  expect(sealNote(nothing)).toBeUndefined()
  expect(openNote(undefined)).toEqual(nothing)
  const all = { needsWaiter: true, durability: 'power', note: Buffer.from('x') } as const
  expect(openNote(sealNote(all))).toEqual(all)
})
