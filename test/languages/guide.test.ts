import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findLanguage } from '../../src/languages/find-language.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import { ownFolder } from '../workers/worker-here.ts'

const guide = readFileSync(new URL('../../docs/guide/languages.md', import.meta.url), 'utf8')

test('the guide has a row for each language that equals its definition file', () => {
  const rows = loadLanguages().map(({ name, title, aliases, debian = [], libraries }) => {
    const packages = [...debian, ...(libraries?.debian ?? [])]
    const words = (list: readonly string[]): string => list.map((word) => `\`${word}\``).join(' ')
    return `| \`${name}\` ${title} | ${words(aliases)} | ${words(packages)} |`
  })
  const table = guide.split('\n').filter((line) => /^\| `[^`]+` \S/.test(line))
  expect(table.slice(0, rows.length)).toEqual(rows)
})

test('the complete language definition in the guide can be loaded', () => {
  const own = ownFolder()
  const shown = /```toml\n(name = "tcl"[\s\S]*?)```/.exec(guide)?.[1]
  writeFileSync(join(own, 'tcl.toml'), shown ?? '')
  expect(findLanguage(loadLanguages(own), 'tclsh')).toMatchObject({ name: 'tcl', run: { limits: { wallMs: 5000 } } })
})
