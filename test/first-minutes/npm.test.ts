import { existsSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openFolder, plainEnv, ROOT, ran } from './windlass-process.ts'

/**
 * Runs `npm install` and npm scripts in a `git clone` of HEAD with the npm versions of Debian 12, Node 20 and Node 22,
 * each called by the machine's own Node. All versions share one npm cache.
 */
const VERSIONS = ['9.2', '10.9', '11']
const NAMES = ['node', 'npm'] as const
const folder = openFolder('npm')
afterAll(folder.remove)

/** The machine's programs, not those of this package: the first of each name on PATH outside of it. */
const places = (process.env.PATH ?? '').split(delimiter).filter((place) => !place.startsWith(ROOT))
const machine = NAMES.map((name) => places.map((place) => join(place, name)).find((path) => existsSync(path)))
const [node, npm] = machine
const missing = NAMES.filter((_, i) => machine[i] === undefined)
const PATH = [dirname(node ?? ''), ...places].join(delimiter)
const env = { PATH, npm_config_update_notifier: 'false' }

/** Fails on a Node older than 24. */
const NODE_TEST = 'test/first-minutes/node-version.test.ts'

/** The reason why this cannot run here; undefined when it can. */
async function reasonToSkip(): Promise<string | undefined> {
  if (missing.length > 0) return `no ${missing.join(' and ')} on PATH outside of this package`
  const head = await ran(['git', 'rev-parse', '--verify', 'HEAD'], { cwd: ROOT })
  if (head.code !== 0) return `no commit to clone: ${head.err.split('\n')[0]}`
  const { code, err } = await ran([npm ?? '', 'ping', '--fetch-retries=0'], { cwd: folder.path, env })
  return code === 0 ? undefined : `the npm registry cannot be reached: ${err.split('\n')[0]}`
}

let skipReason: string | undefined
beforeAll(async () => {
  skipReason = await reasonToSkip()
})

async function cloneOfHead(into: string): Promise<void> {
  const dirty = await ran(['git', 'status', '--porcelain'], { cwd: ROOT })
  if (dirty.out !== '') console.log(`uncommitted changes are not part of the clone:\n${dirty.out.trimEnd()}`)
  const cloned = await ran(['git', 'clone', '--quiet', ROOT, into], { cwd: folder.path })
  expect(cloned, cloned.err).toMatchObject({ code: 0 })
  const [head, copy] = await Promise.all([ROOT, into].map((cwd) => ran(['git', 'rev-parse', 'HEAD'], { cwd })))
  expect(copy?.out).toBe(head?.out)
}

describe.each(VERSIONS)('npm %s with the Node of this machine', (version) => {
  test('installs without a warning about this package, and its scripts run on Node 24', {
    timeout: 600_000,
  }, async (context) => {
    if (skipReason !== undefined) {
      context.task.meta.skipReason = skipReason
      return context.skip(skipReason)
    }
    const tools = join(folder.path, `npm-${version}`)
    mkdirSync(tools)
    const prefix = ['--prefix', tools, '--prefer-offline', '--no-audit', '--no-fund']
    const got = await ran([npm ?? '', 'install', ...prefix, `npm@${version}`], { cwd: tools, env })
    expect(got, got.err).toMatchObject({ code: 0 })
    const called = [node ?? '', join(tools, 'node_modules/npm/bin/npm-cli.js')]

    const clone = join(folder.path, `clone-${version}`)
    await cloneOfHead(clone)
    const installed = await ran([...called, 'install', '--prefer-offline'], { cwd: clone, env })
    expect(installed, installed.err).toMatchObject({ code: 0 })
    expect(installed.err).not.toMatch(/EBADENGINE[^\n]*(\n[^\n]*EBADENGINE[^\n]*)*package: 'windlass@/)

    const started = await ran(['sh', '-x', join(clone, 'bin/windlass'), '--version'], { cwd: clone, env })
    expect(started, started.err).toMatchObject({ code: 0, err: expect.stringContaining('/dist/cli/main.js --version') })

    const tested = await ran([...called, 'test', '--', NODE_TEST], { cwd: clone, env })
    expect(tested, tested.out + tested.err).toMatchObject({ code: 0, out: expect.stringContaining('1 passed') })
    const benched = await ran([...called, 'run', 'bench'], { cwd: clone, env })
    expect(benched.out + benched.err).toContain('CPU per gRPC call')
    await rm(folder.path, { recursive: true, force: true })
    mkdirSync(folder.path)
  })
})

test('every npm script starts with a launcher of this package', async () => {
  const { scripts } = (await import(join(ROOT, 'package.json'), { with: { type: 'json' } })).default as {
    scripts: Record<string, string>
  }
  const OWN = /^(WINDLASS_\w+=\S+ )?((exec )?bin\/(windlass|with-node) |\.ci\/run |npm run |rm -rf dist$)/
  for (const [name, script] of Object.entries(scripts))
    for (const part of script.split(' && ')) expect(part, name).toMatch(OWN)
  expect(plainEnv()).not.toHaveProperty('npm_lifecycle_event')
})
