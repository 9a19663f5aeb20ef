import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { treeDigest } from './tree-digest.ts'

function tree(change: (path: string) => void = () => {}) {
  const path = mkdtempSync(join(tmpdir(), 'windlass-tree-'))
  mkdirSync(join(path, 'a'))
  writeFileSync(join(path, 'a/b'), 'contents', { mode: 0o644 })
  symlinkSync('/nowhere', join(path, 'link'))
  change(path)
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

test('equal contents have equal digests, whatever their mtime', async () => {
  using one = tree()
  using other = tree((path) => utimesSync(join(path, 'a/b'), 1, 1))
  const { digest, bytes } = await treeDigest(one.path)
  expect(await treeDigest(other.path)).toEqual({ digest, bytes })
  expect([digest, bytes]).toEqual([expect.stringMatching(/^sha256:[0-9a-f]{64}$/), 8])
})

test.each([
  ['contents', (path: string) => writeFileSync(join(path, 'a/b'), 'contentz')],
  ['a mode', (path: string) => chmodSync(join(path, 'a/b'), 0o755)],
  ['a name', (path: string) => writeFileSync(join(path, 'a/c'), '')],
  [
    'a link',
    (path: string) => {
      rmSync(join(path, 'link'))
      symlinkSync('/elsewhere', join(path, 'link'))
    },
  ],
])('another value of %s gives another digest', async (_, change) => {
  using one = tree()
  using other = tree(change)
  expect((await treeDigest(other.path)).digest).not.toBe((await treeDigest(one.path)).digest)
})
