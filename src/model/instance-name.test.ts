import { expect, test } from 'vitest'
import { instanceNameProblem, RESERVED_SEGMENTS } from './instance-name.ts'

test.each(['', 'main', 'a/b/c', 'projects/x/instances/default_instance', 'Blobs', 'my-blobs', '主', 'a b'])(
  '"%s" is a valid instance name',
  (name) => {
    expect(instanceNameProblem(name)).toBeUndefined()
  },
)

test.each([
  ['/', 'has an empty segment'],
  ['/a', 'has an empty segment'],
  ['a/', 'has an empty segment'],
  ['a//b', 'has an empty segment'],
  ['..', 'has the segment ".."'],
  ['a/./b', 'has the segment "."'],
  ['a\nb', 'has a control character'],
])('%j is refused as an instance name', (name, problem) => {
  expect(instanceNameProblem(name)).toBe(problem)
})

test('a reserved segment is refused at any place of the name', () => {
  for (const word of RESERVED_SEGMENTS) {
    for (const name of [word, `a/${word}`, `${word}/a`]) {
      expect(instanceNameProblem(name)).toBe(`has the reserved segment "${word}"`)
    }
  }
})
