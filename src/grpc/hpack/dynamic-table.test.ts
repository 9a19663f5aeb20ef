import { expect, test } from 'vitest'
import { DynamicTable } from './dynamic-table.ts'
import { type TableField, tableField, toFieldName } from './table-field.ts'

const field = (name: string, bytes = 40): TableField =>
  tableField(toFieldName(name), 'v'.repeat(bytes - 32 - name.length))

const namesIn = (table: DynamicTable): string[] => {
  const names: string[] = []
  for (let age = 0; ; age++) {
    const found = table.get(age)
    if (found === undefined) return names
    names.push(found.name)
  }
}

test('index 0 is the newest field', () => {
  const table = new DynamicTable(4096, 4096)
  for (const name of ['a', 'b', 'c']) table.insert(field(name))
  expect(namesIn(table)).toEqual(['c', 'b', 'a'])
  expect(table.bytes).toBe(120)
})

test('an insertion evicts as many of the oldest fields as it needs', () => {
  const table = new DynamicTable(120, 120)
  for (const name of ['a', 'b', 'c', 'd']) table.insert(field(name))
  expect(namesIn(table)).toEqual(['d', 'c', 'b'])
  table.insert(field('e', 80))
  expect(namesIn(table)).toEqual(['e', 'd'])
  expect(table.bytes).toBe(120)
})

test('a field of exactly the table size evicts all others; a larger one leaves the table empty', () => {
  const table = new DynamicTable(100, 100)
  table.insert(field('a'))
  table.insert(field('b', 100))
  expect(namesIn(table)).toEqual(['b'])
  table.insert(field('c', 101))
  expect(namesIn(table)).toEqual([])
  expect(table.bytes).toBe(0)
  table.insert(field('d'))
  expect(namesIn(table)).toEqual(['d'])
})

test('a lower limit evicts at once, and a higher limit makes room again', () => {
  const table = new DynamicTable(4096, 160)
  for (const name of ['a', 'b', 'c', 'd']) table.insert(field(name))
  table.limit(100)
  expect(namesIn(table)).toEqual(['d', 'c'])
  table.limit(200)
  for (const name of ['e', 'f', 'g']) table.insert(field(name))
  expect(namesIn(table)).toEqual(['g', 'f', 'e', 'd', 'c'])
  table.limit(0)
  expect(namesIn(table)).toEqual([])
})

test('128 fields of the minimum size, 32 bytes, fit into a table of 4,096 bytes', () => {
  const table = new DynamicTable(4096, 4096)
  const smallest = tableField(toFieldName(''), '')
  for (let i = 0; i < 1000; i++) table.insert(smallest)
  expect(namesIn(table)).toHaveLength(128)
  expect(table.bytes).toBe(4096)
})

test('a table of size 0 stores nothing', () => {
  const table = new DynamicTable(0, 0)
  table.insert(field('a'))
  expect(table.get(0)).toBeUndefined()
})

test('every insertion, limit change and clear gives a new generation', () => {
  const table = new DynamicTable(100, 100)
  const seen = [table.generation]
  for (const change of [
    () => table.insert(field('a')),
    () => table.insert(field('b', 200)),
    () => table.limit(50),
    () => table.empty(),
  ]) {
    change()
    expect(seen).not.toContain(table.generation)
    seen.push(table.generation)
  }
})
