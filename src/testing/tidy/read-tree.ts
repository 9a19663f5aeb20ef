import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSource, type SourceFile } from './source-file.ts'

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git', '.windlass'])

/** All files of the repository that are written by hand or committed, from its root and with slashes. */
export function listFiles(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name) && !/\.(log|tgz)$/.test(name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? listFiles(root, path) : entry.isFile() ? [path] : []
    })
    .sort()
}

/** TypeScript that is ours: what is generated keeps no house rules. */
export const readSources = (root: string, files: readonly string[]): SourceFile[] =>
  files
    .filter((path) => path.endsWith('.ts') && !isGenerated(path))
    .map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')))

export const isGenerated = (path: string): boolean => path.startsWith('src/wire/gen/')

/** Runs under the test runner or the bench only, and never in the program. */
export const isTest = (path: string): boolean =>
  /(\.test|\.fixture|\/contract)\.ts$/.test(path) || /^(src\/testing|test|bench)\//.test(path)
