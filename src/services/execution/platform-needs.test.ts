import { expect, test } from 'vitest'
import { platformNeeds } from './platform-needs.ts'

test.each([
  ['cpu', '4', { cpu: 4 }],
  ['cores', '0.5', { cpu: 0.5 }],
  ['cpu', '500m', { cpu: 0.5 }],
  ['memory', '1073741824', { memoryBytes: 2 ** 30 }],
  ['memory', '2Gi', { memoryBytes: 2 ** 31 }],
  ['memory', '1.5GB', { memoryBytes: 1.5e9 }],
  ['memory', '512m', { memoryBytes: 512e6 }],
  ['disk', '10TiB', { diskBytes: 10 * 2 ** 40 }],
])('%s = %s is an amount', (name, value, demands) => {
  expect(platformNeeds([{ name, value }])).toEqual({ properties: [], demands })
})

test.each([
  ['cpu', 'x86_64'],
  ['cpu', '-1'],
  ['memory', 'lots'],
  ['memory', '1i'],
  ['memory', '9'.repeat(400)],
  ['OSFamily', 'linux'],
  ['Cores', '4'],
  ['__proto__', '4'],
])('%s = %s is a plain property', (name, value) => {
  expect(platformNeeds([{ name, value }])).toEqual({ properties: [{ name, value }], demands: {} })
})

test('a name may have several values, and a worker must offer all of them', () => {
  const isa = [
    { name: 'ISA', value: 'sse4' },
    { name: 'ISA', value: 'x86-64' },
  ]
  expect(platformNeeds(isa).properties).toEqual(isa)
})
