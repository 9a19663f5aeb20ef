import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { describeWith } from '../../testing/require.ts'
import { ignoredFiles } from './ignored-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-ignored-'))
afterAll(() => rmSync(folder, { recursive: true }))

let trees = 0
function treeOf(files: Readonly<Record<string, string>>): string {
  const root = join(folder, `t${trees++}`)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

/** The files that are sent, as a walk over the tree finds them. */
async function kept(root: string): Promise<string[]> {
  const ignored = await ignoredFiles(root)
  const found: string[] = []
  const walk = async (path: string): Promise<void> => {
    await ignored.enter(join(root, path))
    for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
      const at = join(path, entry.name)
      if (ignored.omits(join(root, at), entry.isDirectory())) continue
      if (entry.isDirectory()) await walk(at)
      else found.push(at)
    }
  }
  await walk('')
  return found.sort()
}

test('outside a repository only the .gitignore files within the directory count', async () => {
  const root = treeOf({ '.gitignore': 'a', 'in/a': '', 'in/b': '', 'in/.gitignore': 'b' })
  expect(await kept(join(root, 'in'))).toEqual(['.gitignore', 'a'])
})

test('a .gitignore larger than 1 MiB is refused', async () => {
  const root = treeOf({ '.gitignore': 'x'.repeat(1024 * 1024 + 1) })
  await expect(kept(root)).rejects.toThrow('.gitignore is larger than 1048576 bytes')
})

describeWith('git', 'ignoredFiles', () => {
  const seed = seedOfRun()
  const random = randomFrom(seed)
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T
  const WORDS = ['a', 'b', 'ab', '*', '?', 'a*', '*b', '**', '[ab]', '[!a]', '\\a'] as const
  const NAMES = ['a', 'b', 'ab', 'ba', 'abc'] as const
  const pattern = (): string => {
    const words = Array.from({ length: 1 + random.below(3) }, () => pick(WORDS)).join('/')
    return `${pick(['', '', '!'])}${pick(['', '', '/'])}${words}${pick(['', '', '/'])}`
  }
  const rules = (): string => Array.from({ length: 1 + random.below(4) }, pattern).join('\n')
  const path = (): string => Array.from({ length: 1 + random.below(3) }, () => pick(NAMES)).join('/')

  test.each(Array.from({ length: 15 }, (_, i) => i))(
    `omits the same files as git in random repository %i (seed ${seed})`,
    async () => {
      const files: Record<string, string> = {
        '.gitignore': rules(),
        'd/.gitignore': rules(),
        'd/a/.gitignore': rules(),
      }
      const root = join(folder, `t${trees++}`)
      for (let i = 0; i < 25; i++) files[`${pick(['', 'd/', 'd/a/'])}x${path()}`] = ''
      for (let i = 0; i < 25; i++) files[`${pick(['', 'd/', 'd/a/'])}${path()}`] = ''
      for (const [name, text] of Object.entries(files)) {
        try {
          mkdirSync(dirname(join(root, name)), { recursive: true })
          writeFileSync(join(root, name), text)
        } catch {
          // A file is at the path of a directory.
        }
      }
      execFileSync('git', ['init', '-q'], { cwd: root })
      const listed = execFileSync('git', ['ls-files', '-z', '--others', '--exclude-standard'], { cwd: root })
      expect(await kept(root)).toEqual(listed.toString().split('\0').filter(Boolean).sort())
    },
  )
})
