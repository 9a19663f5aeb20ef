import { collectDefaultMetrics, Registry } from 'prom-client'
import type { HttpMeter } from '../../doors/http/server/http-meter.ts'
import type { Observer } from '../../grpc/observer.ts'
import { grpcFigures } from './grpc.ts'
import { httpFigures } from './http.ts'

export interface Metrics {
  /** Counters of a gRPC server; several servers may share them. */
  readonly observer: Observer
  /** Counters of the HTTP server. */
  readonly meter: HttpMeter
  /** All metrics, in Prometheus' text format. */
  text(): Promise<string>
  readonly contentType: string
  /** For metrics of other components. */
  readonly registry: Registry
}

/** All metrics of this process: its calls, its requests, and Node's figures for memory, processor and event loop. */
export function createMetrics(now: () => number = () => performance.now()): Metrics {
  const registry = new Registry()
  const observer = grpcFigures(registry)
  const meter = httpFigures(registry, now)
  collectDefaultMetrics({ register: registry })
  return { observer, meter, text: () => registry.metrics(), contentType: registry.contentType, registry }
}
