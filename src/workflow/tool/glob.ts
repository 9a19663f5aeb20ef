import { invalid } from '../../base/fault.ts'
import type { Entry, Files } from '../values/files.ts'
import { escapePath } from '../values/uri.ts'

const MAGIC = /[*?[]/

export interface Match {
  readonly class: 'File' | 'Directory'
  /** Relative to the working directory; empty for the directory itself. */
  readonly path: string
  readonly location: string
}

/** Returns the paths below a directory that match a pattern, sorted by name. */
export async function glob(pattern: string, root: string, files: Files): Promise<readonly Match[]> {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw invalid(`the glob ${pattern} leads out of the working directory`)
  let found: readonly Match[] = [{ class: 'Directory', path: '', location: root }]
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    const next: Match[] = []
    for (const one of found) {
      if (one.class !== 'Directory') continue
      next.push(...(await step(one, part, files)).filter((match) => isLast || match.class === 'Directory'))
    }
    found = next
  }
  return pattern.endsWith('/') ? found.filter((one) => one.class === 'Directory') : found
}

async function step(from: Match, part: string, files: Files): Promise<readonly Match[]> {
  const child = (entry: Pick<Entry, 'class' | 'basename' | 'location'>): Match => ({
    class: entry.class,
    path: from.path === '' ? entry.basename : `${from.path}/${entry.basename}`,
    location: entry.location,
  })
  if (!MAGIC.test(part)) {
    const location = `${from.location}/${escapePath(part)}`
    const stat = await files.stat(location)
    return stat === undefined ? [] : [child({ class: stat.class, basename: part, location })]
  }
  const pattern = patternOf(part)
  const entries = await files.list(from.location)
  return entries
    .filter(({ basename }) => pattern.test(basename) && (part.startsWith('.') || !basename.startsWith('.')))
    .map(child)
}

/** `*`, `?` and `[a-z]`, as in POSIX shells. */
export function patternOf(part: string): RegExp {
  let source = ''
  for (let at = 0; at < part.length; at += 1) {
    const char = part[at] ?? ''
    const end = char === '[' ? part.indexOf(']', at + 2) : -1
    if (char === '*') source += '[^/]*'
    else if (char === '?') source += '[^/]'
    else if (end > 0) {
      const inside = part.slice(at + 1, end).replace(/[\\[]/g, '\\$&')
      source += `[${inside.startsWith('!') ? `^${inside.slice(1)}` : inside}]`
      at = end
    } else source += char.replace(/[.+^${}()|\\/[\]]/g, '\\$&')
  }
  // Greedy matching with backtracking to the last star only: a pattern of many stars would otherwise take exponential
  // time.
  return new RegExp(`^${source.replace(/(\[\^\/\]\*)+/g, '[^/]*')}$`, 'su')
}
