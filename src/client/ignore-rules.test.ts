import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../testing/random-source.ts'
import { describeWith } from '../testing/require.ts'
import { ignoreRules } from './ignore-rules.ts'

const omitted = (rules: string, ...paths: string[]): string[] =>
  paths.filter((path) => ignoreRules(rules).omits(path.replace(/\/$/, ''), path.endsWith('/')))

describe('a line', () => {
  test.each<[string, string[], string[]]>([
    ['*.log', ['a.log', 'deep/down/b.log', '.log'], ['a.logs', 'log', 'a.log/x']],
    ['build/', ['build/', 'sub/build/'], ['build', 'sub/build', 'rebuild/']],
    ['/build', ['build', 'build/'], ['sub/build', 'sub/build/']],
    ['doc/*.txt', ['doc/a.txt'], ['doc/sub/a.txt', 'sub/doc/a.txt']],
    ['doc/**/*.txt', ['doc/a.txt', 'doc/x/y/a.txt'], ['a.txt', 'sub/doc/a.txt']],
    ['**/cache', ['cache', 'a/b/cache'], ['caches']],
    ['out/**', ['out/a', 'out/a/b'], ['out/', 'out']],
    ['**', ['a', 'a/b/'], []],
    ['file?', ['file1', 'x/fileé'], ['file', 'file12']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x', '-x']],
    ['[!a-c]x', ['dx', '-x'], ['ax', 'x']],
    ['[]x]y', [']y', 'xy'], ['y']],
    ['[abc', ['[abc'], ['a']],
    ['\\#hash', ['#hash'], ['hash']],
    ['\\!bang', ['!bang'], ['bang']],
    ['\\*', ['*'], ['a']],
    ['end   ', ['end'], ['end   ']],
    ['end\\ ', ['end '], ['end']],
    ['# a comment', [], ['# a comment', 'a']],
    ['', [], ['', 'a']],
    ['/', [], ['a', 'a/']],
    ['名前*', ['名前1'], ['名']],
  ])('%j leaves out %j, and not %j', (rules, out, kept) => {
    expect(omitted(rules, ...out, ...kept)).toEqual(out)
  })
})

test('later lines count before earlier ones, and one can be taken back', () => {
  expect(omitted('*.log\n!keep.log\n', 'a.log', 'keep.log', 'sub/keep.log')).toEqual(['a.log'])
  expect(omitted('!keep.log\r\n*.log\r\n', 'a.log', 'keep.log')).toEqual(['a.log', 'keep.log'])
})

test('many stars in one line take no time to speak of', () => {
  const { omits } = ignoreRules(`${'*a'.repeat(60)}*b\n${'**/a/'.repeat(40)}b`)
  expect(omits('a'.repeat(250), false)).toBe(false)
  expect(omits(Array(200).fill('a').join('/'), false)).toBe(false)
})

describeWith('git', 'git', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-ignore-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const seed = seedOfRun()
  const random = randomFrom(seed)
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T

  const WORDS = ['a', 'b', 'ab', '*', '?', 'a*', '*b', '**', '[ab]', '[!a]', 'a?b', '\\a'] as const
  const pattern = (): string => {
    const parts = Array.from({ length: 1 + random.below(3) }, () => pick(WORDS))
    return `${pick(['', '', '', '!'])}${pick(['', '', '/'])}${parts.join('/')}${pick(['', '', '/'])}`
  }

  test(`says the same of files, whatever the lines (seed ${seed})`, () => {
    execFileSync('git', ['init', '-q', folder])
    const paths: string[] = []
    const names = ['a', 'b', 'ab', 'axb']
    for (const one of names) {
      for (const two of names) {
        mkdirSync(join(folder, `d${one}`, two), { recursive: true })
        mkdirSync(join(folder, one, two), { recursive: true })
        for (const file of ['f', 'abb']) {
          for (const path of [`d${one}/${two}/${file}`, `${one}/${two}/${file}`]) {
            writeFileSync(join(folder, path), '')
            paths.push(path)
          }
        }
      }
    }
    for (let round = 0; round < 60; round++) {
      const text = `${Array.from({ length: 1 + random.below(4) }, pattern).join('\n')}\n`
      writeFileSync(join(folder, '.gitignore'), text)
      const { stdout } = spawnSync('git', ['-C', folder, 'check-ignore', '--no-index', '--stdin'], {
        input: paths.join('\n'),
      })
      const { omits } = ignoreRules(text)
      const isOmitted = (path: string): boolean => {
        const parts = path.split('/')
        return parts.some((_, index) => omits(parts.slice(0, index + 1).join('/'), index < parts.length - 1))
      }
      expect({ text, out: paths.filter(isOmitted) }).toEqual({
        text,
        out: `${stdout}`.trim().split('\n').filter(Boolean),
      })
    }
  }, 60_000)
})
