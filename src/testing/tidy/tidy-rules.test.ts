import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ambient, explicitAny } from './code-rules.ts'
import { crowdedFolders, importCycles } from './cycle-rules.ts'
import { cycles, generatedElsewhere, orphans, outOfLayer, outOfReach } from './import-rules.ts'
import { bannedWords, barrels, emptyFolders, emptyNames } from './name-rules.ts'
import { oversized } from './size-rules.ts'
import { parseSource } from './source-file.ts'

const tree = (files: Record<string, string>) => Object.entries(files).map(([path, text]) => parseSource(path, text))

describe('import rules', () => {
  const REACH = { base: [], model: ['base'], doors: ['base'], testing: ['base'] }

  test('report imports that REACH does not allow, including types and lazy imports', () => {
    const files = tree({
      'src/base/a.ts': `\nimport { b } from '../model/b.ts'\nimport type { C } from '../doors/c.ts'\nimport 'node:fs'`,
      'src/model/b.ts': `import '../base/a.ts'\nimport './other.ts'\nawait import('../doors/c.ts')`,
      'src/doors/c.ts': `type B = import('../model/b.ts').B`,
    })
    expect(outOfReach(files, REACH)).toEqual([
      'src/base/a.ts:2 base/ may not import model/',
      'src/base/a.ts:3 base/ may not import doors/',
      'src/model/b.ts:3 model/ may not import doors/',
      'src/doors/c.ts:1 doors/ may not import model/',
    ])
  })

  test('allow imports of src/testing only in tests', () => {
    const files = tree({
      'src/base/a.ts': `import '../testing/t.ts'`,
      'src/base/a.test.ts': `import '../testing/t.ts'`,
      'src/testing/t.ts': `import '../base/a.ts'`,
    })
    expect(outOfReach(files, REACH)).toEqual(['src/base/a.ts:1 base/ may not import testing/'])
  })

  test('report imports from outside src', () => {
    const files = tree({ 'src/base/a.ts': `import '../../bench/run.ts'\nimport '../../package.json'` })
    expect(outOfReach(files, REACH)).toEqual(['src/base/a.ts:1 base/ may not import bench/'])
  })

  test('report a folder that is not in the REACH table', () => {
    expect(outOfReach(tree({ 'src/misc/a.ts': '' }), REACH)).toEqual([
      'src/misc/a.ts:1 misc/ is not in the REACH table',
    ])
  })

  test('report cycles of value imports, and not of type imports', () => {
    const ring = { 'src/a.ts': `import './b.ts'`, 'src/b.ts': `export * from './c.ts'` }
    expect(cycles(tree({ ...ring, 'src/c.ts': `import { a } from './a.ts'` }))).toEqual([
      'src/a.ts → src/b.ts → src/c.ts → src/a.ts',
    ])
    expect(cycles(tree({ ...ring, 'src/c.ts': `import type { A } from './a.ts'` }))).toEqual([])
    expect(cycles(tree({ ...ring, 'src/c.ts': `import { type A } from './a.ts'` }))).toHaveLength(1)
  })

  test('importCycles reports cycles of type imports among files and folders', () => {
    const files = tree({
      'src/a/one.ts': `import type { Two } from './two.ts'`,
      'src/a/two.ts': `import type { One } from './one.ts'\nimport '../b/three.ts'`,
      'src/b/three.ts': `import { type One } from '../a/one.ts'`,
      'src/b/three.test.ts': `import './c/four.ts'`,
      'src/b/c/four.ts': `import '../three.ts'`,
    })
    expect(importCycles(files)).toEqual(['src/a/one.ts ↔ src/a/two.ts ↔ src/b/three.ts', 'src/a ↔ src/b'])
  })

  test('importCycles reports a folder and its sub-folder that import each other', () => {
    const files = tree({
      'src/a/one.ts': `import './in/two.ts'`,
      'src/a/in/two.ts': `import '../three.ts'`,
      'src/a/three.ts': '',
    })
    expect(importCycles(files)).toEqual(['src/a ↔ src/a/in'])
    expect(
      importCycles(tree({ 'src/a/one.ts': `await import('./two.ts')`, 'src/a/two.ts': `import './one.ts'` })),
    ).toEqual([])
  })

  test('report imports of a higher layer', () => {
    const layers = { 'src/a': { low: [], high: ['low'], '.': ['low', 'high'] } }
    const files = tree({
      'src/a/low/one.ts': `import type { Two } from '../high/two.ts'\nimport '../top.ts'\nimport '../../b/out.ts'`,
      'src/a/high/two.ts': `import '../low/one.ts'`,
      'src/a/low/one.test.ts': `import '../high/two.ts'`,
      'src/a/top.ts': `import './high/two.ts'`,
      'src/a/other/three.ts': '',
    })
    expect(outOfLayer(files, layers)).toEqual([
      'src/a/low/one.ts:1 low may not import high',
      'src/a/low/one.ts:2 low may not import .',
      'src/a/other/three.ts:1 src/a/other/ is not in the table of its layers',
    ])
  })

  test('report imports of generated code', () => {
    const files = tree({
      'src/wire/a.ts': `import './gen/x.ts'`,
      'src/doors/b.ts': `import type { X } from '../wire/gen/x.ts'`,
    })
    expect(generatedElsewhere(files, /^src\/wire\//)).toEqual([
      'src/doors/b.ts:1 imports generated code: ../wire/gen/x.ts',
    ])
  })

  test('report files that no file imports', () => {
    const files = tree({
      'src/cli/main.ts': `import './a.ts'`,
      'src/cli/a.ts': `new Worker(new URL('./thread.ts', import.meta.url))`,
      'src/cli/thread.ts': '',
      'src/cli/lost.ts': `import './a.ts'`,
    })
    expect(orphans(files, (path) => path === 'src/cli/main.ts')).toEqual(['src/cli/lost.ts:1 nothing leads here'])
  })
})

test('explicitAny reports any in every type position', () => {
  const files = tree({ 'src/a.ts': `const any = 1 // any\nlet x: any\nconst y = x as any[]\nfunction f<T = any>() {}` })
  expect(explicitAny(files)).toEqual(['src/a.ts:2 any', 'src/a.ts:3 any', 'src/a.ts:4 any'])
})

describe('ambient access rule', () => {
  const found = (text: string) => ambient(tree({ 'src/base/a.ts': text }), () => false)

  test.each([
    ['process.exit(1)', 'process'],
    ['const { env } = process', 'process'],
    ['const all = { process }', 'process'],
    ['setTimeout(() => {}, 1)', 'setTimeout'],
    ['setInterval(() => {}, 1)', 'setInterval'],
    ['globalThis.setTimeout(() => {}, 1)', 'globalThis.setTimeout'],
    ['const t = Date.now()', 'Date.now'],
    ['const t = new Date()', 'new Date()'],
    ['const t = performance.now()', 'performance.now'],
    [`import { randomUUID } from 'node:crypto'`, 'randomUUID'],
    ['crypto.randomUUID()', 'crypto.randomUUID'],
    [`import { env } from 'node:process'`, 'node:process'],
    [`import { setTimeout as sleep } from 'node:timers/promises'`, 'node:timers/promises'],
  ])('reports %s', (text, name) => {
    expect(found(text)).toEqual([`src/base/a.ts:1 uses ${name}`])
  })

  test.each([
    'task.process()',
    'const it = { process: 1, setTimeout() {} }',
    'new Date(0)',
    'clock.now()',
    'setImmediate(() => {})',
    'export const run = (process: { kill(): void }) => process.kill()',
    'interface Room { process: number }',
  ])('does not report %s', (text) => {
    expect(found(text)).toEqual([])
  })

  test('does not report files that are exempt', () => {
    expect(ambient(tree({ 'src/app/a.ts': 'process.exit()' }), (path) => path.startsWith('src/app/'))).toEqual([])
  })
})

test('oversized reports files and functions over the limits, with the function name', () => {
  const lines = '\n'.repeat(5)
  const files = tree({
    'src/a.ts': `export function long() {${lines}}\nexport const short = () => {}\n`,
    'src/b.ts': `${lines}${lines}//`,
    'src/c.test.ts': `test('', () => {${lines}})`,
  })
  expect(oversized(files, () => ({ file: 10, function: 5 }))).toEqual([
    'src/b.ts:1 has 11 lines, at most 10',
    'src/a.ts:1 long() has 6 lines, at most 5',
  ])
})

test('emptyNames and emptyFolders report meaningless suffixes and folder names', () => {
  const text = `export class TaskManager {}\nexport const a = 1, fooImpl = 2\nexport type { B as XBase }\nconst inner = 1 as unknown\nexport interface Handler {}\nclass OwnHelper {}`
  expect(emptyNames(tree({ 'src/a.ts': text }))).toEqual([
    'src/a.ts:1 TaskManager ends in Manager',
    'src/a.ts:2 fooImpl ends in Impl',
    'src/a.ts:3 XBase ends in Base',
  ])
  expect(emptyFolders(['src/base/types/a.ts', 'src/base/types.ts'])).toEqual([
    'src/base/types/a.ts:1 is in a folder that is named for a kind of thing',
  ])
})

test('barrels are reported by file name and by content', () => {
  const files = tree({
    'src/a/index.ts': 'export const a = 1',
    'src/a/all.ts': `export * from './b.ts'\nexport { c } from './c.ts'`,
    'src/a/b.ts': `export { c } from './c.ts'\nexport const b = 1`,
  })
  expect(barrels(files)).toEqual(['src/a/index.ts:1 is a barrel', 'src/a/all.ts:1 is a barrel'])
})

test('banned words are reported in every text file, and not in images', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-tidy-'))
  writeFileSync(join(folder, 'Makefile'), 'all:\n\techo forbidden')
  writeFileSync(join(folder, 'image.png'), 'forbidden')
  expect(bannedWords(folder, ['Makefile', 'image.png'], [/forbid+en/])).toEqual(['Makefile:2 says forbidden'])
  rmSync(folder, { recursive: true })
})

test('crowdedFolders reports folders with too many files, tests not counted', () => {
  const paths = ['src/a/1.ts', 'src/a/2.ts', 'src/a/3.ts', 'src/b/1.ts', 'src/b/1.test.ts', 'src/b/2.ts']
  expect(crowdedFolders(paths, 2)).toEqual(['src/a has 3 files'])
})
