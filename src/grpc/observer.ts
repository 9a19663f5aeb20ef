import type { ConnectionEnd } from './http2/connection-host.ts'
import type { StatusCode } from './status.ts'

/** Where an embedding program counts and logs. Resolved once per method, so that a call costs two plain calls. */
export interface Observer {
  /** Called once per known method when the server is made, and once with `undefined` for calls to unknown ones. */
  method(service: string | undefined, method: string | undefined): MethodObserver
  connectionOpened(): void
  connectionClosed(why: ConnectionEnd): void
  /** A handler threw something that is not a GrpcError: a bug worth a log line. */
  handlerFailed(path: string, error: unknown): void
}

export interface MethodObserver {
  started(): void
  finished(code: StatusCode, durationMs: number, bytesIn: number, bytesOut: number): void
}
