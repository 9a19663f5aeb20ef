import { DEFAULT_LIMITS, type Http2Limits } from '../grpc/http2/limits.ts'
import type { Timing } from '../grpc/http2/timing.ts'
import type { Observer } from '../grpc/observer.ts'
import { Routes } from '../grpc/server/routes.ts'
import type { ServerCore } from '../grpc/server/server-core.ts'
import type { Service } from '../grpc/service.ts'
import { TimerWheel } from '../grpc/timer-wheel.ts'

export const silentObserver: Observer = {
  method: () => ({ started() {}, finished() {} }),
  connectionOpened() {},
  connectionClosed() {},
  handlerFailed() {},
}

/** The state that connections of one server share, for tests of a connection's internals. */
export function serverCore(
  services: readonly Service[],
  timing: Timing,
  options: { limits?: Partial<Http2Limits>; observer?: Observer } = {},
): ServerCore {
  const limits: Http2Limits = { ...DEFAULT_LIMITS, ...options.limits }
  const observer = options.observer ?? silentObserver
  const budget = { used: 0, most: limits.maxServerBufferedBytes }
  return { routes: new Routes(services, observer), observer, limits, timing, wheel: new TimerWheel(timing), budget }
}
