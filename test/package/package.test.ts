import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../src/app/process/version.ts'
import { linksOf, readPages } from '../../src/testing/pages/page.ts'

/** The package as users get it: packed, installed in an empty folder, and run by its name. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'windlass-package-'))
const home = join(folder, 'home')
const windlass = join(folder, 'app/node_modules/.bin/windlass')
const inPackage = join(folder, 'app/node_modules/windlass')

/**
 * The npm started here must not see the variables of our own npm run, nor this user's caches. NODE_EXTRA_CA_CERTS stays:
 * where a proxy has its own certificate authority, npm reaches no registry without it, and retries for minutes.
 */
const OURS = /^npm_|^WINDLASS_|^NODE_(?!EXTRA_CA_CERTS$)/
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name))),
  XDG_CACHE_HOME: home,
}

async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const ended = promisify(execFile)(command, args, { cwd, env })
  const { stdout } = await ended.catch(({ stdout, stderr }) => {
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  })
  return stdout
}

beforeAll(async () => {
  mkdirSync(join(folder, 'app'))
  writeFileSync(join(folder, 'app/package.json'), '{ "private": true }')
  await run(root, 'npm', 'pack', '--silent', '--pack-destination', folder)
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund']
  await run(join(folder, 'app'), 'npm', 'install', ...quiet, join(folder, tarball ?? 'nothing was packed'))
}, 600_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the npm package', () => {
  test('contains everything that it needs to run, and neither sources nor tests', () => {
    const files = readdirSync(inPackage, { recursive: true, encoding: 'utf8' })
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/windlass',
        'dist/cli/main.js',
        'docs/guide/configuration.md',
        'languages/python.toml',
      ]),
    )
    expect(
      files.filter((name) => /(^src|\.test\.|\.fixture\.|(?<!\.d)\.ts$|^dist\/testing|contract\.js$)/.test(name)),
    ).toEqual([])
    accessSync(join(inPackage, 'bin/windlass'), constants.X_OK)
  })

  test('links only to files that it contains', () => {
    const files = readdirSync(inPackage, { recursive: true, encoding: 'utf8' })
    const lost = readPages(inPackage, files).flatMap((page) =>
      linksOf(page)
        .filter(({ path }) => path.startsWith('..') || !existsSync(join(inPackage, path)))
        .map(({ path }) => `${page.path}: ${path}`),
    )
    expect(files.filter((name) => name.endsWith('.md')).length).toBeGreaterThan(20)
    expect(lost).toEqual([])
  })

  test('prints its version', async () => {
    expect(await run(folder, windlass, '--version')).toBe(`${version()}\n`)
  })

  test('explains the same settings as this version', async () => {
    const { explainConfig } = await import('../../src/app/config/explain.ts')
    expect(await run(folder, windlass, 'config', '--explain')).toBe(explainConfig())
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'starts a server that prints its addresses, serves them, and exits with 0 on %s',
    async (signal) => {
      const flags = [
        'server',
        '--grpc',
        '127.0.0.1:0',
        '--http',
        '127.0.0.1:0',
        '--data',
        join(folder, 'data'),
        '--json',
      ]
      const server = spawn(windlass, flags, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const log: string[] = []
      server.stderr.setEncoding('utf8').on('data', (text) => log.push(text))
      const ended = once(server, 'close')
      const lines: string[] = []
      const output = createInterface({ input: server.stdout }).on('line', (line) => lines.push(line))
      await Promise.race([once(output, 'line'), ended])
      expect(lines[0], log.join('')).toMatch(/^\{"ready":true,"grpc":"127\.0\.0\.1:\d+","http":"127\.0\.0\.1:\d+"\}$/)
      const { http } = JSON.parse(lines[0] ?? '')

      const readyz = await fetch(`http://${http}/readyz`)
      expect(await readyz.json()).toEqual({ ready: true, reasons: [] })

      const page = await fetch(`http://${http}/play`)
      expect(page.headers.get('content-type')).toContain('text/html')
      expect((await fetch(`http://${http}/play/page/playground.js`)).status).toBe(200)

      server.kill(signal)
      expect(await ended).toEqual([0, null])
      expect(lines).toHaveLength(1)
      for (const line of log.join('').trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')
    },
  )
})

/** `windlass/client` as another project uses it: installed, compiled with strict settings, run against a real grid. */
describe('windlass/client', () => {
  const project = join(folder, 'app/project')

  test('compiles in a strict project, with the examples of its documentation', async () => {
    cpSync(join(import.meta.dirname, 'project'), project, { recursive: true })
    const examples = [...publicSource().matchAll(/^ \* ```ts\n(.*?)^ \* ```$/gms)].map(([, lines = '']) => lines)
    expect(examples).toHaveLength(3)
    examples.forEach((lines, i) => {
      const body = lines.replaceAll(/^ \* ?/gm, '').replace(/^import .*\n/, '')
      const imports = "import { connectGrid } from 'windlass/client'\n"
      writeFileSync(join(project, `example-${i}.ts`), `${imports}export async function example() {\n${body}}\n`)
    })
    const types = ['--typeRoots', join(root, 'node_modules/@types')]
    await run(project, join(root, 'node_modules/.bin/tsc'), ...types)
  })

  test('uploads, runs a command, a snippet and a workflow, and reports failures', async () => {
    const inputs = join(folder, 'inputs')
    mkdirSync(inputs)
    chmodSync(folder, 0o755) // commands may run as another user
    const languages = { WINDLASS_WORKER_LANGUAGES: 'bash' }
    const flags = ['up', '--grpc', '127.0.0.1:0', '--http', '127.0.0.1:0', '--data', join(folder, 'grid'), '--json']
    const up = spawn(windlass, flags, {
      cwd: folder,
      env: { ...env, ...languages },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = once(up, 'close')
    try {
      const [line] = await once(createInterface({ input: up.stdout }), 'line')
      const program = [join(project, 'out/main.js'), `grpc://${JSON.parse(line).grpc}`, inputs]
      expect(JSON.parse(await run(project, process.execPath, ...program))).toEqual({
        read: 'some bytes',
        folder: 'sha256',
        command: { exitCode: 3, stdout: 'a\nb\ntyped\n', stderr: 'loud\n', outputs: ['sorted.txt'] },
        output: 'a\nb\n',
        timeout: 'timeout',
        snippet: { status: 'completed', output: '42\n' },
        refused: 400,
        unreached: 'unavailable',
        workflow: 'COMPLETED',
        workers: 1,
      })
    } finally {
      up.kill('SIGTERM')
      await ended
    }
  })
})

const publicSource = (): string => readFileSync(join(root, 'src/app/client/public.ts'), 'utf8')
