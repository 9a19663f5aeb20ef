import { expect, test } from 'vitest'
import { grantProblem, networkGrants } from './network-grants.ts'

test('no task has a network without a grant', () => {
  expect(networkGrants([])('rest', '')).toBe(false)
})

test.each([
  ['rest', 'rest', '', true],
  ['rest', 'rest', 'team-a', true],
  ['rest', 'cwl', '', false],
  ['*', 'reapi', 'team-a', true],
  ['cwl@team-a', 'cwl', 'team-a', true],
  ['cwl@team-a', 'cwl', '', false],
  ['cwl@team-a', 'rest', 'team-a', false],
  ['rest@', 'rest', '', true],
  ['rest@', 'rest', 'team-a', false],
  ['*@a/b@c', 'judge0', 'a/b@c', true],
] as const)('the grant %s, through the door %s for the instance %j: %j', (...[grant, door, instance, isGranted]) => {
  expect(networkGrants([grant])(door, instance)).toBe(isGranted)
})

test('a grant for an unknown door is refused', () => {
  expect(grantProblem('web')).toContain('"web" names no door')
  expect(grantProblem('rest@team-a')).toBeUndefined()
  expect(grantProblem('*')).toBeUndefined()
})
