import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../src/app/process/version.ts'

/** The package as people get it: packed, installed in an empty folder, and run by its name. */
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'windlass-package-'))
const home = join(folder, 'home')
const windlass = join(folder, 'app/node_modules/.bin/windlass')
const inPackage = join(folder, 'app/node_modules/windlass')

/** Our own npm run must not speak to the ones started here, nor this user's caches to what they make. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^WINDLASS_|^NODE_/.test(name))),
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

describe('the package', () => {
  test('holds what it needs to run, and neither sources nor tests', () => {
    const files = readdirSync(inPackage, { recursive: true, encoding: 'utf8' })
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/windlass',
        'dist/cli/main.js',
        'docs/guide/configuration.md',
        'languages/python.toml',
      ]),
    )
    expect(files.filter((name) => /(^src|\.test\.|\.fixture\.|\.ts$|^dist\/testing|contract\.js$)/.test(name))).toEqual(
      [],
    )
    accessSync(join(inPackage, 'bin/windlass'), constants.X_OK)
  })

  test('says its version', async () => {
    expect(await run(folder, windlass, '--version')).toBe(`${version()}\n`)
  })

  test('explains its settings as this version does', async () => {
    const { explainConfig } = await import('../src/app/config/explain.ts')
    expect(await run(folder, windlass, 'config', '--explain')).toBe(explainConfig())
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'starts a server that says where it is, answers there, and ends in good order on %s',
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
