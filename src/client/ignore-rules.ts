/**
 * What to leave out of a directory, in the words of a .gitignore: a pattern a line, later ones over earlier ones, `!`
 * takes one back, a slash at the end means directories only, a slash anywhere else ties a pattern to the root. `*` and
 * `?` stop at slashes, `**` does not. What is in a directory that is left out cannot be taken back.
 *
 * Patterns are matched by hand and not as regular expressions: a few stars in one line of somebody's file could keep
 * such an expression busy for years. This takes as long as the pattern times the path at worst.
 */
export interface IgnoreRules {
  /** Of something whose parents were not left out; the path is from the root, with slashes. */
  omits(path: string, isDirectory: boolean): boolean
}

interface Rule {
  readonly takesBack: boolean
  readonly directoriesOnly: boolean
  readonly segments: readonly Token<string>[]
}

/** One place in a pattern: something that fits, or a run of anything. */
type Token<T> = ((item: T) => boolean) | typeof RUN
const RUN = 'run'

export function ignoreRules(text: string): IgnoreRules {
  const rules = text
    .split(/\r?\n/)
    .map(ruleOf)
    .filter((rule) => rule !== undefined)
  return {
    omits(path, isDirectory) {
      const items = path.split('/')
      const last = rules.findLast((rule) => (isDirectory || !rule.directoriesOnly) && fits(rule.segments, items))
      return last !== undefined && !last.takesBack
    },
  }
}

function ruleOf(line: string): Rule | undefined {
  // Blanks at the end do not count, unless the last one has a backslash before it.
  let pattern = line.replace(/(?<!\\)[ \t]+$/, '')
  if (pattern === '' || pattern.startsWith('#')) return undefined
  const takesBack = pattern.startsWith('!')
  if (takesBack) pattern = pattern.slice(1)
  const directoriesOnly = pattern.endsWith('/')
  if (directoriesOnly) pattern = pattern.slice(0, -1)
  const isTied = pattern.includes('/')
  const parts = pattern.replace(/^\//, '').split('/')
  if (parts.every((part) => part === '')) return undefined
  const segments: Token<string>[] = isTied ? [] : [RUN]
  for (const [index, part] of parts.entries()) {
    if (part !== '**') segments.push(segmentOf(part))
    // At the end it is all that is inside, and not the directory itself.
    else if (index === parts.length - 1 && index > 0) segments.push(() => true, RUN)
    else segments.push(RUN)
  }
  return { takesBack, directoriesOnly, segments }
}

function segmentOf(pattern: string): (name: string) => boolean {
  const tokens: Token<string>[] = []
  const chars = [...pattern]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] as string
    if (char === '*') tokens.push(RUN)
    else if (char === '?') tokens.push(() => true)
    else if (char === '[' && classEnd(chars, at) > 0) {
      const end = classEnd(chars, at)
      tokens.push(classOf(chars.slice(at + 1, end)))
      at = end
    } else {
      const literal = char === '\\' ? (chars[++at] ?? '\\') : char
      tokens.push((item) => item === literal)
    }
  }
  return (name) => fits(tokens, [...name])
}

/** Where a class that begins here ends; 0 when it does not, and the bracket is a bracket. */
function classEnd(chars: readonly string[], start: number): number {
  let at = start + 1
  if (chars[at] === '!' || chars[at] === '^') at++
  if (chars[at] === ']') at++ // the first one is one of the class
  while (at < chars.length && chars[at] !== ']') at += chars[at] === '\\' ? 2 : 1
  return at < chars.length ? at : 0
}

function classOf(inside: readonly string[]): (char: string) => boolean {
  const isNegated = inside[0] === '!' || inside[0] === '^'
  const ranges: [from: string, to: string][] = []
  for (let at = isNegated ? 1 : 0; at < inside.length; at++) {
    const from = (inside[at] === '\\' ? inside[++at] : inside[at]) ?? '\\'
    if (inside[at + 1] !== '-' || at + 2 >= inside.length) ranges.push([from, from])
    else {
      at += 2
      ranges.push([from, (inside[at] === '\\' ? inside[++at] : inside[at]) ?? '\\'])
    }
  }
  return (char) => ranges.some(([from, to]) => char >= from && char <= to) !== isNegated
}

/** Runs take as little as they can; when that fails the last one takes one more, and those before it never again. */
function fits<T>(tokens: readonly Token<T>[], items: readonly T[]): boolean {
  let token = 0
  let item = 0
  let lastRun = -1
  let lastItem = 0
  while (item < items.length) {
    const wanted = tokens[token]
    if (wanted === RUN) {
      lastRun = token++
      lastItem = item
    } else if (wanted?.(items[item] as T)) {
      token++
      item++
    } else if (lastRun >= 0) {
      token = lastRun + 1
      item = ++lastItem
    } else return false
  }
  while (tokens[token] === RUN) token++
  return token === tokens.length
}
