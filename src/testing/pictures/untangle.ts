/** A line between two places of neighbouring levels. */
type Segment = readonly [from: string, to: string]

const CROSSING = 3
const ROUNDS = 40

/**
 * Swaps two names of a level, or moves one, as long as that makes the lines between levels shorter or cross less often. `ways`
 * are the lines from level to level. The result depends on the input alone.
 */
export function untangled(levels: readonly (readonly string[])[], ways: readonly (readonly string[])[]): string[][] {
  const segments = ways.flatMap((way) => way.slice(1).map((to, i): Segment => [way[i] as string, to]))
  let best = levels.map((level) => [...level])
  let least = cost(best, segments)
  for (let round = 0; round < ROUNDS; round++) {
    const before = least
    for (const [tried, price] of trials(best, segments)) {
      if (price >= least) continue
      best = tried
      least = price
    }
    if (least === before) break
  }
  return best
}

/** Every order in which one name of a level has another place. */
function* trials(levels: readonly string[][], segments: readonly Segment[]): Generator<[string[][], number]> {
  for (const [at, level] of levels.entries()) {
    for (const name of level) {
      for (let place = 0; place < level.length; place++) {
        const others = level.filter((other) => other !== name)
        const tried = levels.with(at, [...others.slice(0, place), name, ...others.slice(place)])
        yield [tried, cost(tried, segments)]
      }
    }
  }
}

function cost(levels: readonly (readonly string[])[], segments: readonly Segment[]): number {
  const places = new Map(
    levels.flatMap((level, row) => level.map((name, i) => [name, { row, x: (i + 1) / (level.length + 1) }] as const)),
  )
  const lines = segments.map(([from, to]) => ({
    row: places.get(from)?.row ?? 0,
    start: places.get(from)?.x ?? 0,
    end: places.get(to)?.x ?? 0,
  }))
  let sum = 0
  for (const [i, one] of lines.entries()) {
    sum += Math.abs(one.start - one.end)
    for (const other of lines.slice(i + 1))
      if (one.row === other.row && (one.start - other.start) * (one.end - other.end) < 0) sum += CROSSING / 10
  }
  return sum
}
