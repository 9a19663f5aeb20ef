import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pageWithAttacks } from './attack-page.ts'
import { aboutAttack } from './attack-programs.ts'
import { ATTACKS } from './attack-table.ts'

const page = join(import.meta.dirname, '../../docs/guide/isolation.md')

test('the isolation page lists each attack and its result', async () => {
  await expect(pageWithAttacks(page)).toMatchFileSnapshot(page)
})

test('every attack program is in the table with its description, and there are more than forty', () => {
  const files = readdirSync(join(import.meta.dirname, 'attacks')).filter((name) => !name.endsWith('.h'))
  expect(ATTACKS.map(({ file }) => file).toSorted()).toEqual(files.toSorted())
  for (const file of files) expect(aboutAttack(file), file).toMatch(/^[A-Z].*[.?]$/)
  expect(files.length).toBeGreaterThan(40)
})
