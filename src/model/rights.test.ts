import { expect, test } from 'vitest'
import { EVERY_INSTANCE, type Grant, hasRight, RIGHTS, RIGHTS_OF, type Right, ROLES } from './rights.ts'

const ALL = Object.keys(RIGHTS) as Right[]
const rightsIn = (grants: readonly Grant[], instance: string): Right[] =>
  ALL.filter((right) => hasRight({ grants }, right, instance))

test.each(ROLES)('%s has its rights in the granted instance, and none in another one', (role) => {
  const grants = [{ role, instance: 'main' }]
  expect(rightsIn(grants, 'main').sort()).toEqual([...RIGHTS_OF[role]].sort())
  expect(rightsIn(grants, 'other')).toEqual([])
  expect(rightsIn(grants, '')).toEqual([])
})

test('a grant for every instance has its rights in each of them', () => {
  const grants: Grant[] = [{ role: 'reader', instance: EVERY_INSTANCE }]
  for (const instance of ['', 'main', 'a/b']) expect(rightsIn(grants, instance)).toEqual(['read-cache', 'read-tasks'])
})

test('the rights of several grants add up, each in its instance', () => {
  const grants: Grant[] = [
    { role: 'reader', instance: 'main' },
    { role: 'writer-ci', instance: 'ci' },
  ]
  expect(hasRight({ grants }, 'write-results', 'ci')).toBe(true)
  expect(hasRight({ grants }, 'write-results', 'main')).toBe(false)
})

test('a caller without grants has no right', () => {
  expect(rightsIn([], '')).toEqual([])
})

test('only worker has the right to work, and only server the right to serve', () => {
  const having = (right: Right) => ROLES.filter((role) => (RIGHTS_OF[role] as readonly Right[]).includes(right))
  expect(having('work')).toEqual(['worker'])
  expect(having('serve')).toEqual(['server'])
})

test('every right belongs to a role', () => {
  expect(ALL.filter((right) => !ROLES.some((role) => (RIGHTS_OF[role] as readonly Right[]).includes(right)))).toEqual(
    [],
  )
})
