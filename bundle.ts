import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pid } from 'node:process'
import { type OutputChunk, type OutputOptions, type Plugin, type RolldownOptions, rolldown } from 'rolldown'

/**
 * Bundles src/ into dist/. `npm run build` runs it, and npm's `prepare` after an installation in a clone.
 *
 * Node resolves, reads and checks each module separately, which is most of the start of a server. The bundle keeps each
 * entry point at its path (src/cli/main.ts becomes dist/cli/main.js) and joins the other modules into chunks. Code in a
 * chunk sees the `import.meta.url` of its own module, with dist for src and .js for .ts: it finds package.json, languages/
 * and the entry points of threads by the same relative paths as in src.
 *
 * Programs may be running from dist/ meanwhile: a file whose content stays the same is not written, the others are
 * renamed into place, the main program last. bin/windlass compares the time of the main program with that of the
 * sources, so it gets the time when the build began: a source edited during the build counts as newer.
 */
const SOURCES = join(import.meta.dirname, 'src')
const TARGET = join(import.meta.dirname, 'dist')
const MAIN = 'cli/main.js'
const PAGE = 'doors/http/playground/page'

type Files = ReadonlyMap<string, string>

/** Loaded from node_modules when first used: quickjs-emscripten loads files beside its own, and few need pino-pretty. */
const EXTERNAL = /^(node:|pino-pretty|quickjs-emscripten)/

const NEW_URL = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g

interface EntryPoints {
  /** The program and the public client. */
  readonly main: Record<string, string>
  /** Every file that a source names in a URL: threads and child processes. */
  readonly others: Record<string, string>
}

function entryPoints(): EntryPoints {
  const sources = globSync('**/*.ts', { cwd: SOURCES, exclude: ['testing/**', `${PAGE}/**`] })
    .filter((name) => !/\.(test|fixture)\.ts$/.test(name))
    .map((name) => join(SOURCES, name))
  const named = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(NEW_URL)].map(([, path = '']) => resolve(dirname(file), path)),
  )
  const byName = (files: readonly string[]) =>
    Object.fromEntries(files.map((file) => [relative(SOURCES, file).replace(/\.ts$/, ''), file]))
  return {
    main: byName([join(SOURCES, 'cli/main.ts'), join(SOURCES, 'app/client/public.ts')]),
    others: byName(named.filter((file) => !file.startsWith(join(SOURCES, PAGE)))),
  }
}

/** Gives each module the URL that it has outside of a chunk. */
const keepingUrls: Plugin = {
  name: 'keeping-urls',
  transform(code, id) {
    if (!id.startsWith(SOURCES) || !code.includes('import.meta.url')) return
    const place = relative(SOURCES, id).replace(/\.ts$/, '.js')
    return { code: code.replaceAll('import.meta.url', `__URL_OF__("${place}")`), map: null }
  },
  renderChunk: (code, { fileName }) =>
    code.replaceAll(/__URL_OF__\("([^"]+)"\)/g, (_, place: string) => {
      const path = relative(dirname(fileName), place)
      return `new URL(${JSON.stringify(path)}, import.meta.url).href`
    }),
}

const NODE_IMPORT = /^import (?:\* as )?(\w+)?(?:, )?({[^}]*})? from "(node:[^"]+)";$/gm

/**
 * Takes modules of Node from `process.getBuiltinModule`. An `import` of one reads each of its exports, also those that
 * Node loads when they are first read: with `node:http` that is the whole of `fetch`, with `node:crypto` WebCrypto.
 */
const takingBuiltins = (code: string): string =>
  code.replaceAll(NODE_IMPORT, (...[, whole, names, module]: string[]) => {
    const source = `globalThis.process.getBuiltinModule(${JSON.stringify(module)})`
    const parts = [
      ...(whole === undefined ? [] : [whole]),
      ...(names === undefined ? [] : [names.replaceAll(' as ', ': ')]),
    ]
    return `var ${parts.map((part) => `${part} = ${source}`).join(', ')};`
  })

/**
 * Writes characters outside of ASCII as escapes, which mean the same in strings, templates and regular expressions: V8
 * keeps the text of a file with a single such character in two bytes per character.
 */
const inAscii = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

async function bundled(options: RolldownOptions, output: OutputOptions): Promise<readonly OutputChunk[]> {
  await using build = await rolldown({ cwd: import.meta.dirname, tsconfig: false, ...options })
  const { output: files } = await build.generate({ entryFileNames: '[name].js', ...output })
  return files.filter((file) => file.type === 'chunk')
}

/** Threads and child processes get chunks of their own: what they share with the program would split it into more files. */
async function program(): Promise<Files> {
  const { main, others } = entryPoints()
  const options: RolldownOptions = { platform: 'node', external: EXTERNAL, plugins: [keepingUrls] }
  const chunks = [
    ...(await bundled({ ...options, input: main }, { chunkFileNames: 'chunks/[name]-[hash].js' })),
    ...(await bundled({ ...options, input: others }, { chunkFileNames: 'chunks/threads/[name]-[hash].js' })),
  ]
  const code = chunks.map(({ fileName, code }) => [fileName, inAscii(takingBuiltins(code))] as const)
  return new Map([...code, ['LICENSES.txt', licenses(chunks.flatMap(({ moduleIds }) => moduleIds))]])
}

/** The licences of the packages whose code is in the bundle: they require that a copy carries their text. */
function licenses(modules: readonly string[]): string {
  const packages = new Set(modules.flatMap((id) => id.match(/^.*\/node_modules\/(@[^/]+\/)?[^/]+/)?.[0] ?? []))
  const texts = [...packages].sort().map((folder) => {
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(folder, file), 'utf8')}`
  })
  return texts.join(`\n${'-'.repeat(80)}\n`)
}

/** Browsers load the modules of the playground one by one. */
async function page(): Promise<Files> {
  const input = globSync('*.ts', { cwd: join(SOURCES, PAGE) }).map((name) => join(SOURCES, PAGE, name))
  const modules = await bundled({ input, platform: 'browser', external: /^@codemirror/ }, { preserveModules: true })
  return new Map(modules.map(({ fileName, code }) => [join(PAGE, fileName), code]))
}

function put(name: string, content: string): void {
  const path = join(TARGET, name)
  if (existsSync(path) && readFileSync(path, 'utf8') === content) return
  mkdirSync(dirname(path), { recursive: true })
  const partial = `${path}.${pid}`
  writeFileSync(partial, content)
  renameSync(partial, path)
}

/** Removes what earlier builds left, except types of sources that still exist. */
function removeOthers(files: Files): void {
  for (const entry of readdirSync(TARGET, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(TARGET, path)
    const isType = name.endsWith('.d.ts') && existsSync(join(SOURCES, name.replace(/\.d\.ts$/, '.ts')))
    if (entry.isFile() && !isType && !files.has(name)) rmSync(path)
  }
}

const began = new Date()
const files = new Map([...(await program()), ...(await page())])
for (const [name, content] of files) if (name !== MAIN) put(name, content)
put(MAIN, files.get(MAIN) ?? '')
removeOthers(files)
utimesSync(join(TARGET, MAIN), began, began)
