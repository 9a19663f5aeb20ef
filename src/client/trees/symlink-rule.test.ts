import { expect, test } from 'vitest'
import { leadsOut } from './symlink-rule.ts'

test.each([
  ['link', 'file'],
  ['link', './a/b/c'],
  ['link', '.'],
  ['a/link', '..'],
  ['a/b/link', '../../c/d'],
  ['a/b/link', './..//../c'],
  ['link', '...'],
])('%s → %s stays in its tree', (path, target) => {
  expect(leadsOut(path, target)).toBeUndefined()
})

test.each([
  ['link', '/etc/passwd', 'is absolute'],
  ['link', '//etc', 'is absolute'],
  ['link', '..', 'climbs out of the tree'],
  ['a/link', '../..', 'climbs out of the tree'],
  ['a/link', './.././../x', 'climbs out of the tree'],
  ['link', 'a/b/up/../x', 'climbs up behind a name'],
  ['a/link', 'b/..', 'climbs up behind a name'],
])('%s → %s may lead out: it %s', (path, target, words) => {
  expect(leadsOut(path, target)).toBe(words)
})
