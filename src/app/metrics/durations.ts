import type { Sample } from './exposition.ts'

/** Upper bounds in milliseconds, equidistant on a logarithmic scale: 0.1 ms to 100 s. */
const EDGES_MS = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000,
]
const EDGES = Float64Array.from(EDGES_MS)
const LABELS = [...EDGES_MS.map((ms) => String(ms / 1000)), '+Inf']

/**
 * A histogram that is written once per call at six-digit rates and read once per scrape: each duration increments one
 * counter, and Prometheus' cumulative counts are computed only at a scrape.
 */
export class DurationHistogram {
  readonly #counts = new Float64Array(EDGES.length + 1)
  #sumMs = 0

  add(ms: number): void {
    let low = 0
    if (ms > 0.1) {
      let high = EDGES.length
      while (low < high) {
        const middle = (low + high) >> 1
        if (ms > (EDGES[middle] as number)) low = middle + 1
        else high = middle
      }
    }
    this.#counts[low] = (this.#counts[low] as number) + 1
    this.#sumMs += ms
  }

  *samples(name: string, sharedLabels: Readonly<Record<string, string>>): Generator<Sample> {
    let total = 0
    for (const [index, count] of this.#counts.entries()) {
      total += count
      yield { metricName: `${name}_bucket`, labels: { le: LABELS[index] ?? '' }, sharedLabels, value: total }
    }
    yield { metricName: `${name}_sum`, labels: {}, sharedLabels, value: this.#sumMs / 1000 }
    yield { metricName: `${name}_count`, labels: {}, sharedLabels, value: total }
  }
}
