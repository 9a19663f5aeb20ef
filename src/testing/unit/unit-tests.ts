import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

/**
 * The rule that selects unit tests: a test under src is one when neither it nor any module that it loads, directly or
 * through other modules, can start a process, a thread or a server. The rule reads imports, so there is no list to keep.
 */
export const unitTests = (root: string): string[] => {
  const read = (path: string): string => {
    const file = join(root, path)
    return existsSync(file) ? readFileSync(file, 'utf8') : '' // a text in quotes can look like an import
  }
  return globSync('src/**/*.test.ts', { cwd: root }).filter(unitRule(read)).sort()
}

/** Answers whether a file is a unit test; `read` returns the text of a file by its path from the root. */
export function unitRule(read: (path: string) => string): (path: string) => boolean {
  const known = new Map<string, Module>()
  const moduleAt = (path: string): Module => {
    const before = known.get(path)
    if (before !== undefined) return before
    const found = path.endsWith('.ts') ? parseModule(path, read(path)) : { starts: false, loads: [] }
    known.set(path, found)
    return found
  }
  return (path) => {
    const visited = new Set([path])
    for (const each of visited) {
      const { starts, loads } = moduleAt(each)
      if (starts) return false
      for (const next of loads) visited.add(next)
    }
    return true
  }
}

interface Module {
  /** It can start a process, a thread or a server. */
  readonly starts: boolean
  /** The files that it loads; types are erased and do not count. */
  readonly loads: readonly string[]
}

const STARTING_MODULES = /['"]node:(child_process|cluster|worker_threads)['"]/
const NET = "'node:(?:net|http|http2|https|tls)'"
const STARTING_NAMES = [
  new RegExp(String.raw`import (?!type )(?:\w+|\* as \w+)(?:, \{[^}]*\})? from ${NET}`), // the module as a whole
  new RegExp(String.raw`import [^{}']*\{[^}]*\b(?:createServer|createSecureServer|Server)\b[^}]*\} from ${NET}`),
  /import [^']*\bWebSocketServer\b[^']* from 'ws'/,
]
const IMPORTS = [
  /^(?:import|export) (?!type\b)(?:[^'"]*? from )?'(\.[^']+)'/gm,
  /\bimport\('(\.[^']+)'\)/g,
  /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g, // a file for a thread or a process
]

function parseModule(path: string, text: string): Module {
  const code = text.replace(/^import type .*$/gm, '')
  const specifiers = IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, specifier = '']) => specifier))
  return {
    starts: [STARTING_MODULES, ...STARTING_NAMES].some((pattern) => pattern.test(code)),
    loads: specifiers.map((specifier) => join(dirname(path), specifier)),
  }
}
