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
])('symlink %s → %s stays in its tree', (path, target) => {
  expect(leadsOut(path, target)).toBeUndefined()
})

test.each([
  ['link', '/etc/passwd', 'is absolute'],
  ['link', '//etc', 'is absolute'],
  ['link', '..', 'leads out of the tree'],
  ['a/link', '../..', 'leads out of the tree'],
  ['a/link', './.././../x', 'leads out of the tree'],
  ['link', 'a/b/up/../x', 'has .. after a name'],
  ['a/link', 'b/..', 'has .. after a name'],
])('symlink %s → %s may lead out of its tree: it %s', (path, target, words) => {
  expect(leadsOut(path, target)).toBe(words)
})
