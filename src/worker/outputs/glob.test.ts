import { expect, test } from 'vitest'
import { matchesGlob } from './glob.ts'

test.each([
  ['*.txt', 'a.txt', true],
  ['*.txt', 'a/b.txt', false],
  ['*.txt', '.txt', false],
  ['.*', '.hidden', true],
  ['*', '.hidden', false],
  ['**', 'a/b/c', true],
  ['**/*.o', 'x.o', true],
  ['**/*.o', 'a/b/x.o', true],
  ['**/*.o', 'a/.git/x.o', false],
  ['a/**/z', 'a/z', true],
  ['a/**/z', 'a/b/c/z', true],
  ['a/**/z', 'b/z', false],
  ['?.c', 'a.c', true],
  ['?.c', 'ab.c', false],
  ['?', '\u{1f600}', true],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[!a-c]x', 'dx', true],
  ['[]]', ']', true],
  ['[a', '[a', true],
  ['[-a]', '-', true],
  ['a*b*c', 'aXXbYYc', true],
  ['a*b*c', 'aXXbYY', false],
  ['', '', true],
  ['a', '', false],
])('matchesGlob(%j, %j) is %s', (pattern, path, fits) => {
  expect(matchesGlob(pattern, path)).toBe(fits)
})

test('a pattern with 1,000 wildcards is matched in bounded time', () => {
  expect(matchesGlob(`${'*a'.repeat(1000)}b`, 'a'.repeat(4000))).toBe(false)
  expect(matchesGlob(`${'**/a/'.repeat(500)}b`, 'a/'.repeat(1500))).toBe(false)
})
