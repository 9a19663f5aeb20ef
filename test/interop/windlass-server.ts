import { systemClock } from '../../src/app/process/clock.ts'
import type { ListenAddress } from '../../src/grpc/address.ts'
import type { Http2Limits } from '../../src/grpc/http2/limits.ts'
import type { Timing } from '../../src/grpc/http2/timing.ts'
import type { Observer } from '../../src/grpc/observer.ts'
import { createServer, type GrpcServer, type ServerTls } from '../../src/grpc/server/server.ts'
import type { Service } from '../../src/grpc/service.ts'
import { type InteropServer, MAX_MESSAGE_BYTES } from './conversation.ts'
import { interopService } from './interop-service.ts'

export const timing: Timing = { now: systemClock.monotonic, after: systemClock.after }

export interface WindlassServer extends InteropServer {
  readonly server: GrpcServer
}

export interface WindlassServerOptions {
  /** By default a free port of this machine. */
  readonly address?: ListenAddress
  readonly services?: readonly Service[]
  readonly tls?: ServerTls
  readonly limits?: Partial<Http2Limits>
  readonly observer?: Observer
  readonly timing?: Timing
}

export async function windlassServer(options: WindlassServerOptions = {}): Promise<WindlassServer> {
  const { address = { host: '127.0.0.1', port: 0 }, services = [interopService(timing)], limits, ...rest } = options
  const server = createServer({ services, timing, limits: { maxMessageBytes: MAX_MESSAGE_BYTES, ...limits }, ...rest })
  return { server, address: await server.listen(address), close: () => server.close() }
}
