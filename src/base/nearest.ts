/** Longer than any known name. The cost grows with the length, and such an input is not a typing error. */
const MOST_CHARACTERS = 200

/** The known name that is closest to a mistyped one, ignoring case; undefined when none is close. */
export function nearest(wrong: string, known: readonly string[]): string | undefined {
  if (wrong.length > MOST_CHARACTERS) return undefined
  const written = wrong.toLowerCase()
  let best: string | undefined
  let least = Math.max(2, Math.floor(wrong.length / 3)) + 1
  for (const name of known) {
    // The right name in the wrong table is nearer than most misspellings: `address` stood for `server.address`.
    const meant = name.toLowerCase()
    const edits = editDistance(written, meant)
    const distance = lastPart(meant) === lastPart(written) ? Math.min(edits, 1 + edits / 1000) : edits
    if (distance < least) [best, least] = [name, distance]
  }
  return best
}

const lastPart = (key: string): string => key.slice(key.lastIndexOf('.') + 1)

/** Insertions, deletions and replacements that lead from one to the other (Levenshtein), one row at a time. */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const change = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(change, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    above = current
  }
  return above[to.length] ?? 0
}
