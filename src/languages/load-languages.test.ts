import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findLanguage } from './find-language.ts'
import { loadLanguages } from './load-languages.ts'

const WHOLE = `
name = "toy"
title = "Toy"
file_name = "main.toy"
[run]
argv = ["toy", "{file}"]
[probe]
programs = ["toy"]
argv = ["toy", "-v"]
pattern = '(\\d+)'
[self_test]
code = "say hello"
stdout = "hello"
`

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-languages-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('the built-in languages include these, and are found by their aliases', () => {
  const languages = loadLanguages()
  expect(languages.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      ...['python', 'javascript', 'typescript', 'c', 'c++', 'java', 'go', 'rust', 'ruby', 'php', 'perl', 'lua', 'bash'],
      ...['r', 'c#', 'kotlin', 'scala', 'haskell', 'sql', 'pascal', 'fortran', 'octave', 'awk', 'quickjs'],
    ]),
  )
  const named = Object.entries({
    py: 'python',
    Node: 'javascript',
    cpp: 'c++',
    ' CSharp ': 'c#',
    golang: 'go',
    ts: 'typescript',
  })
  for (const [alias, name] of named) expect(findLanguage(languages, alias)?.name).toBe(name)
  expect(findLanguage(languages, 'klingon')).toBeUndefined()
})

test('each language has all limits, a probe, a Debian package and a self-test', () => {
  for (const { name, compile, run, probe, debian, selfTest } of loadLanguages()) {
    for (const stage of compile === undefined ? [run] : [compile, run])
      for (const limit of ['wallMs', 'cpuMs', 'memoryBytes', 'pids', 'fileBytes', 'diskBytes', 'outputBytes'] as const)
        expect(stage.limits[limit], `${name}: ${limit}`).toBeGreaterThan(0)
    expect(probe.programs.length, name).toBeGreaterThan(0)
    expect(debian?.length, name).toBeGreaterThan(0)
    expect(selfTest.stdout, name).toContain('Hello, windlass')
  }
})

test('a folder of the user adds languages, and replaces a built-in one of the same name', () => {
  const own = folderOf({ 'toy.toml': WHOLE, 'other.toml': WHOLE.replace('"toy"', '"python"'), 'notes.txt': 'none' })
  const languages = loadLanguages(own)
  expect(findLanguage(languages, 'toy')).toMatchObject({ fileName: 'main.toy', compile: undefined })
  expect(findLanguage(languages, 'python')).toMatchObject({ title: 'Toy', aliases: [] })
  expect(loadLanguages(join(own, 'nowhere')).length).toBe(loadLanguages().length)
})

test('a language inherits the fields that it does not state, but not the aliases', () => {
  const own = folderOf({ 'mine.toml': 'extends = "python"\nname = "mine"\n[run]\nlimits = { memory_mib = 1 }' })
  const [mine, python] = ['mine', 'python'].map((name) => findLanguage(loadLanguages(own), name))
  expect(mine).toMatchObject({ title: 'Python', aliases: [], run: { argv: python?.run.argv } })
  expect(mine?.run.limits.memoryBytes).toBe(1024 ** 2)
  expect(findLanguage(loadLanguages(), 'python-data')).toMatchObject({ libraries: { debian: expect.any(Array) } })
})

test.each([
  ['an unknown field', WHOLE.replace('title', 'titel'), /bad\.toml: .*titel|bad\.toml: title/],
  ['a name with a space', WHOLE.replace('"toy"', '"to y"'), /bad\.toml: name: must be made of/],
  ['a file name that leads elsewhere', WHOLE.replace('main.toy', '../main.toy'), /bad\.toml: file_name/],
  [
    'a pattern without a group',
    WHOLE.replace(String.raw`(\d+)`, String.raw`\d+`),
    /bad\.toml: probe\.pattern: .*group/,
  ],
  ['a pattern that is none', WHOLE.replace(String.raw`(\d+)`, '(('), /bad\.toml: probe\.pattern: .*regular expression/],
  ['a limit that is no number', `${WHOLE}[compile]\nargv=["a"]\nlimits={pids="9"}`, /bad\.toml: compile\.limits\.pids/],
  ['no command', WHOLE.replace('["toy", "{file}"]', '[]'), /bad\.toml: run\.argv/],
  ['a name that another has', WHOLE.replace('title =', 'aliases = ["py"]\ntitle ='), /py is a name of both/],
  ['a base that is not there', `extends = "nothing"\n${WHOLE}`, /bad\.toml: extends/],
  ['a base that is itself based', `extends = "python-data"\n${WHOLE}`, /bad\.toml: extends/],
  ['what is no TOML', 'name = ', /bad\.toml: /],
  ['a key that would change all objects', '[__proto__]\nname = "x"', /bad\.toml: /],
])('%s is reported with its file and field', (_, text, words) => {
  expect(() => loadLanguages(folderOf({ 'bad.toml': text }))).toThrow(words)
})
