import { expect, test } from 'vitest'

test('the tests run on Node 24 or later, whatever Node started npm', () => {
  expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(24)
})
