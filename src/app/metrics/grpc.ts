import type { Registry } from 'prom-client'
import type { Log } from '../../base/log.ts'
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

/** Logs events that operators need: handlers that threw, and callers that were disconnected for abuse. */
export const logged = (inner: Observer, log: Log): Observer => ({
  ...inner,
  connectionClosed(why) {
    if (why.flood !== undefined) log.warn({ ...why }, 'gRPC connection closed for abuse')
    else if (why.code !== 0) log.debug({ ...why }, 'gRPC connection closed with an error')
    inner.connectionClosed(why)
  },
  handlerFailed(path, error) {
    log.error({ path, err: error }, 'gRPC handler failed')
    inner.handlerFailed(path, error)
  },
})

function callSeries(methods: ReadonlyMap<string, MethodFigures>): Series[] {
  const all = (of: (figures: MethodFigures) => Iterable<Sample>) => () =>
    [...methods.values()].flatMap((figures) => [...of(figures)])
  const seconds = 'windlass_grpc_call_seconds'
  return [
    {
      name: 'windlass_grpc_calls_total',
      help: 'Finished gRPC calls, by status code.',
      type: 'counter',
      samples: all((one) => one.calls()),
    },
    {
      name: seconds,
      help: 'Duration of gRPC calls in seconds, from request headers to status.',
      type: 'histogram',
      samples: all((one) => one.seconds.samples(seconds, one.labels)),
    },
    {
      name: 'windlass_grpc_received_bytes_total',
      help: 'Bytes of received gRPC messages.',
      type: 'counter',
      samples: all(({ labels, received: value }) => [{ labels, value }]),
    },
    {
      name: 'windlass_grpc_sent_bytes_total',
      help: 'Bytes of sent gRPC messages.',
      type: 'counter',
      samples: all(({ labels, sent: value }) => [{ labels, value }]),
    },
    {
      name: 'windlass_grpc_calls_in_flight',
      help: 'gRPC calls in progress.',
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
      help: 'Open gRPC connections.',
      type: 'gauge',
      samples: () => one(figures.open),
    },
    {
      name: 'windlass_grpc_connections_total',
      help: 'Accepted gRPC connections.',
      type: 'counter',
      samples: () => one(figures.opened),
    },
    {
      name: 'windlass_grpc_connections_cut_total',
      help: 'gRPC connections closed for abuse, by the limit that was exceeded.',
      type: 'counter',
      samples: () => [...figures.cut].map(([reason, value]) => ({ labels: { reason }, value })),
    },
    {
      name: 'windlass_grpc_handler_failures_total',
      help: 'gRPC calls whose handler threw an unexpected error. Each one is a bug and is logged.',
      type: 'counter',
      samples: () => one(figures.handlerFailures),
    },
  ]
}
