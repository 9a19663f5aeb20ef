import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { splitCommandLine } from './command-line.ts'

test.each([
  ['', []],
  ['  a  b ', ['a', 'b']],
  [`a "b c" 'd  e'`, ['a', 'b c', 'd  e']],
  [`"" ''`, ['', '']],
  [`a\\ b "\\"q\\"" 'no\\thing' "x\\y"`, ['a b', '"q"', 'no\\thing', 'x\\y']],
  [`pre"fix"ed`, ['prefixed']],
])('%j is split as a shell does', (line, words) => {
  expect(splitCommandLine(line)).toEqual(words)
  const shell = execFileSync('bash', ['-c', `printf '%s\\0' ${line}`]).toString()
  if (words.length > 0) expect(shell.split('\0').slice(0, -1)).toEqual(words)
})

test('variables, substitutions and globs are not expanded, and an unclosed quote is invalid', () => {
  expect(splitCommandLine('$HOME `id` $(id) ; rm -rf * > x')).toEqual([
    '$HOME',
    '`id`',
    '$(id)',
    ';',
    'rm',
    '-rf',
    '*',
    '>',
    'x',
  ])
  expect(splitCommandLine('"open')).toBeUndefined()
})
