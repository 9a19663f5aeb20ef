/**
 * Whether a path matches a shell pattern: `*` and `?` within one name, `[a-z]` and `[!a]` for one character, `**` for
 * any number of names. A leading dot must be written out. Clients choose the patterns, so no regular expression is
 * used: the time is bounded by the product of both lengths.
 */
export const matchesGlob = (pattern: string, path: string): boolean => matchNames(pattern.split('/'), path.split('/'))

/** Backtracks only to the last `**`, which can match everything that an earlier one can. */
function matchNames(patterns: readonly string[], names: readonly string[]): boolean {
  let [p, n] = [0, 0]
  let [starP, starN] = [-1, -1]
  while (n < names.length) {
    if (patterns[p] === '**') {
      starP = p++
      starN = n
    } else if (p < patterns.length && matchName([...(patterns[p] as string)], [...(names[n] as string)])) {
      p++
      n++
    } else if (starP >= 0 && !(names[starN] as string).startsWith('.')) {
      p = starP + 1
      n = ++starN
    } else return false
  }
  while (patterns[p] === '**') p++
  return p === patterns.length
}

function matchName(pattern: readonly string[], name: readonly string[]): boolean {
  if (name[0] === '.' && pattern[0] !== '.') return false
  let [p, n] = [0, 0]
  let [starP, starN] = [-1, -1]
  while (n < name.length) {
    const next = pattern[p] === '*' ? undefined : matchOne(pattern, p, name[n] as string)
    if (pattern[p] === '*') {
      starP = p++
      starN = n
    } else if (next !== undefined) {
      p = next
      n++
    } else if (starP >= 0) {
      p = starP + 1
      n = ++starN
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}

/** Returns the position in the pattern after this character; undefined when it does not match. */
function matchOne(pattern: readonly string[], at: number, character: string): number | undefined {
  const one = pattern[at]
  if (one === '?') return at + 1
  const end = one === '[' ? pattern.indexOf(']', at + (pattern[at + 1] === '!' ? 3 : 2)) : -1
  if (end < 0) return one === character ? at + 1 : undefined
  const isNot = pattern[at + 1] === '!'
  return isInSet(pattern.slice(at + (isNot ? 2 : 1), end), character) === isNot ? undefined : end + 1
}

function isInSet(set: readonly string[], character: string): boolean {
  for (let i = 0; i < set.length; i++) {
    const from = set[i] as string
    const isRange = set[i + 1] === '-' && set[i + 2] !== undefined
    const to = isRange ? (set[i + 2] as string) : from
    if (from <= character && character <= to) return true
    if (isRange) i += 2
  }
  return false
}
