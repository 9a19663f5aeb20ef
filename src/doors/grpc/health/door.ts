import type { Outgoing, ServerCall, Service } from '../../../grpc/service.ts'
import { GrpcError, STATUS } from '../../../grpc/status.ts'
import { healthListToProto, healthRequestFromProto, type Serving, servingToProto } from '../../../wire/admin/health.ts'
import { refusingMalformed } from '../refuse-malformed.ts'

export interface GrpcHealth {
  readonly service: Service
  /** The empty name is the whole server, which is NOT_SERVING until it is set. */
  set(serviceName: string, serving: boolean): void
  /** From now on every service is NOT_SERVING, whatever `set` is called with: load balancers then use other servers. */
  drain(): void
}

const serviceAsked = refusingMalformed(healthRequestFromProto)

/** The standard gRPC health protocol. */
export function grpcHealth(): GrpcHealth {
  const states = new Map<string, Serving>([['', 'notServing']])
  const changed = wakeUp()
  let draining = false

  function check(request: Uint8Array): Uint8Array {
    const state = states.get(serviceAsked(request))
    if (state === undefined) throw new GrpcError(STATUS.notFound, 'unknown service')
    return servingToProto(state)
  }

  /**
   * Sends the latest state when it differs from the last one sent: a slow client skips states in between.
   * Draining ends the stream: a watch never ends by itself and would delay a graceful stop until its limit.
   */
  async function watch(request: Uint8Array, out: Outgoing, call: ServerCall): Promise<void> {
    const name = serviceAsked(request)
    let sent: Serving | undefined
    while (!call.cancelled) {
      const state = states.get(name) ?? 'unknown'
      if (state !== sent) {
        sent = state
        if (!out.write(servingToProto(state))) await out.drained()
      } else if (draining) throw new GrpcError(STATUS.unavailable, 'this server is draining')
      else await changed.next(call.signal)
    }
  }

  return {
    service: {
      name: 'grpc.health.v1.Health',
      methods: {
        Check: { kind: 'unary', readsAtOnce: true, handle: check },
        List: { kind: 'unary', handle: () => healthListToProto(states) },
        Watch: { kind: 'serverStreaming', handle: watch },
      },
    },
    set(serviceName, serving) {
      states.set(serviceName, serving && !draining ? 'serving' : 'notServing')
      changed.now()
    },
    drain() {
      draining = true
      for (const name of states.keys()) states.set(name, 'notServing')
      changed.now()
    },
  }
}

/** `next` resolves at the following `now`, or when its signal aborts; it removes its listeners in both cases. */
function wakeUp() {
  const sleepers = new Set<() => void>()
  return {
    next: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const wake = () => {
          sleepers.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        sleepers.add(wake)
        signal.addEventListener('abort', wake)
      }),
    now(): void {
      for (const wake of sleepers) wake()
    },
  }
}
