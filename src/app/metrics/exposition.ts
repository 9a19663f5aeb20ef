import type { Metric, Registry } from 'prom-client'

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  /** The labels that all parts of a histogram share: prom-client prints them only once. */
  readonly sharedLabels?: Readonly<Record<string, string>>
  readonly value: number
  /** The suffix, for metrics with parts: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string
}

export interface Series {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Called at each scrape only. */
  samples(): Iterable<Sample>
}

/**
 * Exposes numbers that are stored elsewhere. prom-client's own metrics look up a label set in a hash map at every
 * change, which is too expensive once per call; a registry only needs a metric's name and `get`.
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
