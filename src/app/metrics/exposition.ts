import type { Metric, Registry } from 'prom-client'

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  /** Those that all parts of a histogram have in common: prom-client writes them out only once. */
  readonly sharedLabels?: Readonly<Record<string, string>>
  readonly value: number
  /** Where a metric has parts: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string
}

export interface Series {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Read at each scrape, and only then. */
  samples(): Iterable<Sample>
}

/**
 * Shows numbers that live elsewhere. prom-client's own metrics look up a label set and a hash map at every change,
 * which is too much once per call; what a registry needs of a metric is only a name and `get`.
 */
export function expose(registry: Registry, { samples, ...about }: Series): void {
  const metric = {
    ...about,
    aggregator: 'sum',
    get: async () => ({ ...about, aggregator: 'sum', values: [...samples()] }),
    reset() {},
  }
  registry.registerMetric(metric as unknown as Metric)
}
