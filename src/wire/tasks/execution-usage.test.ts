import { expect, test } from 'vitest'
import { usageOfAuxiliary, usageToAuxiliary } from './command-task-result.ts'

test('usage round-trips in whole milliseconds and bytes', () => {
  const usage = { wallMs: 1500.4, cpuUserMs: 20.6, cpuSystemMs: 0, peakMemoryBytes: 2 ** 40, how: 'counted' } as const
  expect(usageOfAuxiliary([{ typeUrl: 'other', value: Buffer.of(9) }, usageToAuxiliary(usage)])).toEqual({
    ...usage,
    wallMs: 1500,
    cpuUserMs: 21,
  })
})

test('values that were not measured read as undefined, not as 0', () => {
  const none = { cpuUserMs: undefined, cpuSystemMs: undefined, peakMemoryBytes: undefined }
  const usage = { wallMs: 3, ...none, how: 'sampled' } as const
  expect(usageOfAuxiliary([usageToAuxiliary(usage)])).toEqual(usage)
})

test('a result without usage reads as undefined, and malformed usage is refused', () => {
  expect(usageOfAuxiliary([])).toBeUndefined()
  const { typeUrl } = usageToAuxiliary({ wallMs: 0, cpuUserMs: 0, cpuSystemMs: 0, peakMemoryBytes: 0, how: 'counted' })
  expect(() => usageOfAuxiliary([{ typeUrl, value: Buffer.of(0x0a, 9) }])).toThrow('malformed')
})
