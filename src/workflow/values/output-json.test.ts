import { expect, test } from 'vitest'
import { outputJson } from './output-json.ts'

test('whole numbers are printed in all their digits, other values as JSON', () => {
  const zeros = (count: number): string => '0'.repeat(count)
  expect(outputJson({ big: 4.2e42, less: -1e21, plain: 1e20, part: 1e-7, text: '4.2e42' })).toBe(`{
    "big": 42${zeros(41)},
    "less": -1${zeros(21)},
    "plain": 1${zeros(20)},
    "part": 1e-7,
    "text": "4.2e42"
}`)
})
