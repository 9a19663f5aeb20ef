import { expect, test } from 'vitest'
import { nodeNameProblem } from './directory.ts'

test.each(['a', '.bazelrc', '...', 'a b', '名', 'a\\b', 'a\nb'])('%j is a valid file name', (name) => {
  expect(nodeNameProblem(name)).toBeUndefined()
})

test.each([
  ['', 'is empty'],
  ['.', 'is "."'],
  ['..', 'is ".."'],
  ['a/b', 'has a slash in it'],
  ['/', 'has a slash in it'],
  ['a\0', 'has a NUL in it'],
])('%j is refused as a file name', (name, problem) => {
  expect(nodeNameProblem(name)).toBe(problem)
})
