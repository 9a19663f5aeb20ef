import { expect, test } from 'vitest'
import { FaultError } from '../base/fault.ts'
import type { Language } from '../model/language.ts'
import { type SnippetSpec, snippetOf } from '../model/snippet.ts'
import { findLanguage } from './find-language.ts'
import { loadLanguages } from './load-languages.ts'
import { snippetTask, snippetTaskUnder } from './snippet-task.ts'

const named = (name: string): Language => findLanguage(loadLanguages(), name) as Language
const [python, c, java] = [named('python'), named('c'), named('java')]
const file = (name: string, text = '') => ({ name, contents: Buffer.from(text) })
const lower = (language: Language, spec: Partial<SnippetSpec> = {}, version?: string) =>
  snippetTask(snippetOf({ language: language.name, files: [file('')], ...spec }), language, version)

test('a snippet becomes a task with its file, a run stage and the language as a property', () => {
  const task = lower(python, { files: [file('', 'print(1)')], args: ['--x', '{file}'], stdin: Buffer.from('in') })
  expect(task).toMatchObject({
    stages: [
      {
        name: 'run',
        argv: ['python3', '-u', '-B', 'main.py', '--x', '{file}'],
        stdin: { kind: 'inline', bytes: Buffer.from('in') },
        network: false,
      },
    ],
    inputs: { files: [{ path: 'main.py', contents: Buffer.from('print(1)'), executable: false }] },
    platform: [{ name: 'language', value: 'python' }],
    isolation: 'namespaces',
    cacheable: false,
  })
  expect(lower(python, {}, '3.11.2').platform).toEqual([{ name: 'language', value: 'python@3.11.2' }])
})

test('a compiled language gets a compile stage with its source files, without args, env and network of the run', () => {
  const files = [file('src/a.c'), file('b.c'), file('b.h'), file('data.txt')]
  const { stages } = lower(c, { files, args: ['x'], env: [{ name: 'A', value: 'b' }], network: true })
  expect(stages).toMatchObject([
    {
      name: 'compile',
      argv: ['gcc', '-std=gnu17', '-O2', '-o', 'program', 'src/a.c', 'b.c', '-lm'],
      env: [],
      network: false,
    },
    { name: 'run', argv: ['./program', 'x'], env: [{ name: 'A', value: 'b' }], network: true },
  ])
})

test('file names are inserted as they are, and not expanded again', () => {
  const { stages } = lower(java, { files: [file('{stem}{file}.java'), file('$(x) y.java')] })
  expect(stages[0]?.argv.slice(-2)).toEqual(['{stem}{file}.java', '$(x) y.java'])
  expect(stages[1]?.argv.at(-1)).toBe('{stem}{file}')
})

test('a file without a name gets the name that its language requires', () => {
  const nameOf = (text: string) => lower(java, { files: [file('', text)] }).inputs.files[0]?.path
  expect(nameOf('class A {}')).toBe('Main.java')
  expect(nameOf('import x;\npublic final class Solution {}')).toBe('Solution.java')
  expect(nameOf(`public class ${'A'.repeat(5000)} {}`)).toBe('Main.java')
})

test('the environment of the request overrides that of the language', () => {
  const [run] = lower(python, { env: [{ name: 'PYTHONHASHSEED', value: '7' }] }).stages
  expect(run?.env).toEqual([
    { name: 'PYTHONIOENCODING', value: 'utf-8' },
    { name: 'PYTHONHASHSEED', value: '7' },
  ])
})

test('limits of the request override those of the language, up to the maximum', () => {
  const [run] = lower(python, { runLimits: { wallMs: 1e9, memoryBytes: 1024, pids: 3 } }).stages
  expect(run?.limits).toMatchObject({ wallMs: 300_000, memoryBytes: 1024, pids: 3, cpuMs: python.run.limits.cpuMs })
  const tight = snippetTaskUnder({ most: { wallMs: 5 } })
  const task = tight(snippetOf({ language: 'c', files: [file('')], compileLimits: { wallMs: 9 } }), c, undefined)
  expect(task.stages.map(({ limits }) => limits.wallMs)).toEqual([5, 5])
})

test.each([0, -1, Number.NaN])('a limit of %d is refused', (wallMs) => {
  expect(() => lower(python, { runLimits: { wallMs } })).toThrow(/limits: wallMs/)
})

test('isolation is never below the minimum, and a stronger one is required of the worker', () => {
  expect(lower(python, { isolation: 'none' })).toMatchObject({ isolation: 'namespaces' })
  expect(lower(python, { isolation: 'container' })).toMatchObject({
    isolation: 'container',
    platform: [
      { name: 'language', value: 'python' },
      { name: 'isolation', value: 'container' },
    ],
  })
  const bare = snippetTaskUnder({ least: 'none' })
  expect(bare(snippetOf({ language: 'python', files: [file('')] }), python, undefined).isolation).toBe('none')
})

test.each([
  ['../x.py'],
  ['a/../../x.py'],
  ['/etc/passwd'],
  ['a//b'],
  ['a/'],
  ['./a'],
  ['.'],
  ['..'],
  ['a\0b'],
  ['a\nb'],
  ['a\\b'],
  ['-c'],
  ['@options'],
  ['\ud800'],
  ['a'.repeat(256)],
  [`${'a/'.repeat(600)}b`],
])('a file named %j is refused', (name) => {
  expect(() => lower(python, { files: [file(name)] })).toThrow(FaultError)
  expect(() => lower(python, { files: [file('main.py'), file(name)] })).toThrow(FaultError)
})

test.each([
  ['the same name twice', ['a.py', 'a.py']],
  ['a file where another needs a folder', ['a', 'b.py', 'a/b/c']],
  ['a second file without a name', ['a.py', '']],
  ['the name that the first gets', ['', 'main.py']],
  ['none at all', []],
  ['too many', Array.from({ length: 1001 }, (_, i) => `f${i}`)],
])('%s is refused', (_, names) => {
  expect(() => lower(python, { files: names.map((name) => file(name)) })).toThrow(/^files: /)
})

test('arguments and variables with a NUL, and invalid variable names, are refused', () => {
  expect(() => lower(python, { args: ['a\0b'] })).toThrow(/^args: /)
  for (const name of ['', 'A=B', 'A\0']) expect(() => lower(python, { env: [{ name, value: '' }] })).toThrow(/^env: /)
  expect(() => lower(python, { env: [{ name: 'A', value: '\0' }] })).toThrow(/^env: /)
})
