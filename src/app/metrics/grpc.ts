import type { Registry } from 'prom-client'
import type { Observer } from '../../grpc/observer.ts'
import { expose, type Sample, type Series } from './exposition.ts'
import { MethodFigures } from './method.ts'

/** Counts gRPC calls and connections as windlass_grpc_… */
export function grpcFigures(registry: Registry): Observer {
  const methods = new Map<string, MethodFigures>()
  const connections = { opened: 0, open: 0, cut: new Map<string, number>(), handlerFailures: 0 }
  for (const series of [...callSeries(methods), ...connectionSeries(connections)]) expose(registry, series)
  return {
    /** Unknown methods share one entry: a caller must not be able to fill memory with names. */
    method(service = 'unknown', method = 'unknown') {
      const key = `${service}/${method}`
      const figures = methods.get(key) ?? new MethodFigures(service, method)
      methods.set(key, figures)
      return figures
    },
    connectionOpened() {
      connections.opened++
      connections.open++
    },
    connectionClosed({ flood }) {
      connections.open--
      if (flood !== undefined) connections.cut.set(flood, (connections.cut.get(flood) ?? 0) + 1)
    },
    handlerFailed() {
      connections.handlerFailures++
    },
  }
}

function callSeries(methods: ReadonlyMap<string, MethodFigures>): Series[] {
  const all = (of: (figures: MethodFigures) => Iterable<Sample>) => () =>
    [...methods.values()].flatMap((figures) => [...of(figures)])
  const seconds = 'windlass_grpc_call_seconds'
  return [
    {
      name: 'windlass_grpc_calls_total',
      help: 'gRPC calls that ended, by status code.',
      type: 'counter',
      samples: all((one) => one.calls()),
    },
    {
      name: seconds,
      help: 'How long gRPC calls took, from their headers to their status.',
      type: 'histogram',
      samples: all((one) => one.seconds.samples(seconds, one.labels)),
    },
    {
      name: 'windlass_grpc_received_bytes_total',
      help: 'Bytes that came in gRPC messages.',
      type: 'counter',
      samples: all(({ labels, received: value }) => [{ labels, value }]),
    },
    {
      name: 'windlass_grpc_sent_bytes_total',
      help: 'Bytes that went out in gRPC messages.',
      type: 'counter',
      samples: all(({ labels, sent: value }) => [{ labels, value }]),
    },
    {
      name: 'windlass_grpc_calls_in_flight',
      help: 'gRPC calls that have begun and not ended.',
      type: 'gauge',
      samples: all(({ labels, inFlight: value }) => [{ labels, value }]),
    },
  ]
}

interface ConnectionFigures {
  readonly opened: number
  readonly open: number
  readonly cut: ReadonlyMap<string, number>
  readonly handlerFailures: number
}

function connectionSeries(figures: ConnectionFigures): Series[] {
  const one = (value: number): Sample[] => [{ labels: {}, value }]
  return [
    {
      name: 'windlass_grpc_connections',
      help: 'gRPC connections that are open.',
      type: 'gauge',
      samples: () => one(figures.open),
    },
    {
      name: 'windlass_grpc_connections_total',
      help: 'gRPC connections that were opened.',
      type: 'counter',
      samples: () => one(figures.opened),
    },
    {
      name: 'windlass_grpc_connections_cut_total',
      help: 'gRPC connections that were cut for abuse, by the limit that they passed.',
      type: 'counter',
      samples: () => [...figures.cut].map(([reason, value]) => ({ labels: { reason }, value })),
    },
    {
      name: 'windlass_grpc_handler_failures_total',
      help: 'gRPC calls whose handler threw what it should not: each is a bug, and a line in the log.',
      type: 'counter',
      samples: () => one(figures.handlerFailures),
    },
  ]
}
