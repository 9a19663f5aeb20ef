import { access, readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { FaultError } from '../../base/fault.ts'

/** In one directory, a line of the later file counts before one of the earlier. */
const RULE_FILES = ['.gitignore', '.windlassignore']
const MOST_RULE_BYTES = 1024 * 1024
/** Kept by git for itself; what is in it changes with every command of git. */
const GIT_FOLDER = '.git'

/** The paths that are left out of a directory of inputs, by the .gitignore and .windlassignore files at every level. */
export interface IgnoredFiles {
  /** To be called before what is in a directory is asked about. */
  enter(directory: string): Promise<void>
  omits(path: string, isDirectory: boolean): boolean
}

interface Rules {
  readonly directory: string
  readonly text: string
  readonly matcher: Ignore
}

/**
 * The rules of git: patterns are relative to the directory of their file, a deeper file counts before a higher one, and
 * the files of the directories above `root` count too, up to the one that git tracks.
 */
export async function ignoredFiles(root: string): Promise<IgnoredFiles> {
  const known = new Map<string, readonly Rules[]>()
  const enter = async (directory: string, above: readonly Rules[]): Promise<void> => {
    const rules = above.map((each) => reopened(each, directory))
    known.set(directory, [...rules, ...(await rulesIn(directory))])
  }
  const parents = await foldersAbove(resolve(root))
  for (const [i, folder] of parents.entries()) await enter(folder, known.get(parents[i - 1] ?? '') ?? [])
  return {
    enter: (directory) => enter(resolve(directory), known.get(dirname(resolve(directory))) ?? []),
    omits(path, isDirectory) {
      const at = resolve(path)
      if (at.endsWith(`${sep}${GIT_FOLDER}`) || at.endsWith(`${sep}${RULE_FILES[1]}`)) return true
      let isOmitted = false
      for (const { directory, matcher } of known.get(dirname(at)) ?? []) {
        const { ignored, unignored } = matcher.test(`${relative(directory, at)}${isDirectory ? '/' : ''}`)
        if (ignored) isOmitted = true
        else if (unignored) isOmitted = false
      }
      return isOmitted
    },
  }
}

const rulesOf = (directory: string, text: string): Rules => ({
  directory,
  text,
  matcher: ignore({ ignorecase: false }).add(text),
})

/**
 * The rules for what is in a directory that is not omitted, although these rules alone would omit it: a deeper file has
 * included it again. `ignore` takes everything below an ignored directory for ignored, so it gets that line too.
 */
function reopened(rules: Rules, directory: string): Rules {
  const path = relative(rules.directory, directory)
  if (!rules.matcher.test(`${path}/`).ignored) return rules
  return rulesOf(rules.directory, `${rules.text}\n!/${path.replaceAll(/[*?[\]!#\\ ]/g, '\\$&')}/`)
}

/** The directories from the one with .git down to the parent of `root`; none outside a git repository. */
async function foldersAbove(root: string): Promise<string[]> {
  const folders: string[] = []
  for (let at = root; ; at = dirname(at)) {
    if (at !== root) folders.unshift(at)
    if (await isThere(join(at, GIT_FOLDER))) return folders
    if (dirname(at) === at) return []
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

async function rulesIn(directory: string): Promise<Rules[]> {
  const found: Rules[] = []
  for (const name of RULE_FILES) {
    const file = join(directory, name)
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined
      throw error
    })
    if (text === undefined) continue
    if (text.length > MOST_RULE_BYTES)
      throw new FaultError({
        kind: 'invalid',
        what: `${file} is larger than ${MOST_RULE_BYTES} bytes: is it a list of patterns?`,
      })
    found.push(rulesOf(directory, text))
  }
  return found
}
