import { expect, test } from 'vitest'
import { newId } from './new-id.ts'

test('ids are UUIDs of version 7 that sort by time', () => {
  const ids = [1, 1_700_000_000_000, 1_700_000_000_001, 2 ** 47].map((now) => newId(() => now))
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect([...ids].sort()).toEqual(ids)
})

test('1,000 ids of one millisecond are all different', () => {
  expect(new Set(Array.from({ length: 1000 }, () => newId(() => 5))).size).toBe(1000)
})
