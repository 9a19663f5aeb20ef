import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { generate } from './generate.ts'

const fresh = mkdtempSync(join(tmpdir(), 'windlass-generated-'))
afterAll(() => rmSync(fresh, { recursive: true }))

const root = join(import.meta.dirname, '../..')

test('src/wire/gen is up to date with proto/ (if not: npm run generate)', () => {
  generate(fresh)
  const committed = filesUnder(join(root, 'src/wire/gen'))
  const made = filesUnder(join(fresh, 'src/wire/gen'))
  expect([...committed.keys()]).toEqual([...made.keys()])
  for (const [name, text] of made) expect(committed.get(name) === text, `${name} is out of date`).toBe(true)
})

test('the protos are formatted and pass buf lint', () => {
  const buf = (...args: string[]) =>
    execFileSync(join(root, 'node_modules/.bin/buf'), args, { cwd: root, encoding: 'utf8' })
  expect(buf('lint')).toBe('')
  expect(buf('format', '--diff')).toBe('')
})

function filesUnder(folder: string): Map<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = found.map((entry) => join(entry.parentPath, entry.name)).sort()
  return new Map(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]))
}
