import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeTree } from './remove-tree.ts'

function scratch(): Disposable & { readonly path: string; readonly outside: string } {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-remove-'))
  const [path, outside] = [join(folder, 'room'), join(folder, 'outside')]
  for (const each of [path, outside]) mkdirSync(each)
  writeFileSync(join(outside, 'kept'), '')
  return { path, outside, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

test('a tree deeper than PATH_MAX is removed, and nothing behind its symlinks', async () => {
  using at = scratch()
  const name = 'd'.repeat(200)
  // A process can reach directories that no path can name.
  const down = `for (let i = 0; i < 60; i++) {
    fs.mkdirSync('side')
    fs.writeFileSync('side/f', '')
    fs.mkdirSync('${name}')
    process.chdir('${name}')
  }
  fs.symlinkSync('${at.outside}', 'out')`
  execFileSync(process.execPath, ['-e', down], { cwd: at.path })
  await removeTree(at.path)
  expect(readdirSync(join(at.path, '..'))).toEqual(['outside'])
  expect(readdirSync(at.outside)).toEqual(['kept'])
})

test('a tree is removed, and removing it again is no error', async () => {
  using at = scratch()
  mkdirSync(join(at.path, 'a/b'), { recursive: true })
  symlinkSync(at.outside, join(at.path, 'a/link'))
  await removeTree(at.path)
  await removeTree(at.path)
  expect([existsSync(at.path), existsSync(join(at.outside, 'kept'))]).toEqual([false, true])
})
