import { expect, test } from 'vitest'

test('the tests run on Node 24 or later, whichever Node started npm', () => {
  expect(Number(process.versions.node.split('.')[0])).toBeGreaterThanOrEqual(24)
})
