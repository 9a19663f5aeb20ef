import { EventEmitter } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FIELDS } from '../../app/config/config.ts'
import { loadConfig } from '../../app/config/load.ts'
import { run } from '../../cli/program.ts'
import { listFiles } from '../tidy/read-tree.ts'
import { blocksOf, callsIn, headingsOf, linksOf, pathsIn, readPages, scriptsIn } from './page.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const pages = readPages(ROOT, listFiles(ROOT))
const guide = pages.filter(({ path }) => path.startsWith('docs/guide/'))

const isThere = (path: string): boolean => existsSync(join(ROOT, path))

async function helpOf(command: readonly string[]): Promise<string> {
  const printed: string[] = []
  const send = (text: string) => void printed.push(text)
  const signals = Object.assign(new EventEmitter(), { exit: () => {} })
  await run([...command, '--help'], {
    ...{ env: {}, home: '/', platform: '', self: ['windlass'], outIsTerminal: false, errIsTerminal: false },
    ...{ signals, out: send, err: send },
  })
  return printed.join('')
}

test('every link leads to an existing page and heading', () => {
  const lost = pages.flatMap((page) =>
    linksOf(page)
      .filter(({ path, heading }) => {
        if (!isThere(path)) return true
        const target = pages.find((each) => each.path === path)
        return heading !== undefined && target !== undefined && !headingsOf(target).includes(heading)
      })
      .map(({ path, heading = '' }) => `${page.path}: ${path}#${heading}`),
  )
  expect(lost).toEqual([])
})

test('every file and npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const lost = pages.flatMap((page) => [
    ...pathsIn(page).filter((path) => !isThere(path)),
    ...scriptsIn(page).filter((script) => !Object.hasOwn(scripts, script)),
  ])
  expect(lost).toEqual([])
})

test('README.md links to every page of the guide', () => {
  const [front] = pages.filter(({ path }) => path === 'README.md')
  const linked = new Set(front && linksOf(front).map(({ path }) => path))
  expect(guide.map(({ path }) => path).filter((path) => !linked.has(path))).toEqual([])
})

test('CONTRIBUTING maps every folder of code to its tests, and every folder of tests to code', () => {
  const [page] = pages.filter(({ path }) => path === 'CONTRIBUTING.md')
  const map = page?.text.split('## Tests')[1]?.split('\n## ')[0] ?? ''
  const folders = ['src', 'test'].flatMap((top) =>
    readdirSync(join(ROOT, top), { withFileTypes: true }).map(({ name }) => `${top}/${name}`),
  )
  const lost = folders.filter((path) => path !== 'src/tidy.test.ts' && !map.includes(`\`${path}/\``))
  expect(lost).toEqual([])
})

test('every flag in an example is a flag of its command', async () => {
  expect(pages.flatMap(callsIn).length).toBeGreaterThan(50)
  const wrong: string[] = []
  for (const page of pages) {
    for (const { command, flags, line } of callsIn(page)) {
      const help = flags.length === 0 ? '' : await helpOf(command)
      wrong.push(...flags.filter((flag) => !help.includes(` ${flag}`)).map((flag) => `${page.path}: ${flag}: ${line}`))
    }
  }
  expect(wrong).toEqual([])
})

/** The flags of every command and its sub-commands. */
async function allFlags(command: readonly string[]): Promise<string[]> {
  const help = await helpOf(command)
  const own = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z][a-z-]+)/gm)].map(([, flag = '']) => flag)
  const [, list = ''] = /\nCommands:\n((?: .*\n)+)/.exec(help) ?? []
  const names = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  const below = await Promise.all(names.map((name) => allFlags([...command, name])))
  return [...own, ...below.flat()]
}

test('every flag is documented', async () => {
  const flags = new Set(await allFlags([]))
  expect(flags.size).toBeGreaterThan(40)
  const words = pages.map(({ text }) => text).join('\n')
  const undocumented = [...flags].filter((flag) => flag !== '--help' && flag !== '--version' && !words.includes(flag))
  expect(undocumented).toEqual([])
})

test('every setting in an example is known and has a valid value', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-pages-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'example.toml')
  const tables = new Set(FIELDS.map(({ key }) => key.split('.')[0]))
  const examples = guide
    .flatMap((page) => blocksOf(page, 'toml'))
    .filter((block) => tables.has(/^\[(\w+)/m.exec(block)?.[1] ?? '')) // language files are TOML, too
  expect(examples.length).toBeGreaterThan(5)
  for (const example of examples) {
    writeFileSync(file, example)
    expect(() => loadConfig({ file, env: {}, home: '/' }), example).not.toThrow()
  }
})
