/**
 * The smallest value that is not exceeded by `part` (0 to 1) of the values; 0.5 is the median. NaN when there are none.
 */
export function quantile(values: Iterable<number>, part: number): number {
  const sorted = Float64Array.from(values).sort()
  if (part === 0.5 && sorted.length > 0 && sorted.length % 2 === 0) {
    const half = sorted.length / 2
    return ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2
  }
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

export const median = (values: Iterable<number>): number => quantile(values, 0.5)
