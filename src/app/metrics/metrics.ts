import { collectDefaultMetrics, Registry } from 'prom-client'
import type { HttpMeter } from '../../doors/http/server/http-meter.ts'
import type { Observer } from '../../grpc/observer.ts'
import { grpcFigures } from './grpc.ts'
import { httpFigures } from './http.ts'

export interface Metrics {
  /** Counts for a gRPC server; several servers may share it. */
  readonly observer: Observer
  /** Counts for the HTTP door. */
  readonly meter: HttpMeter
  /** Everything, as Prometheus reads it. */
  text(): Promise<string>
  readonly contentType: string
  /** For figures of other parts. */
  readonly registry: Registry
}

/** All figures of this process: its calls, its requests, and what Node tells of memory, processor and event loop. */
export function createMetrics(now: () => number = () => performance.now()): Metrics {
  const registry = new Registry()
  const observer = grpcFigures(registry)
  const meter = httpFigures(registry, now)
  collectDefaultMetrics({ register: registry })
  return { observer, meter, text: () => registry.metrics(), contentType: registry.contentType, registry }
}
