import type { ConnectionEnd } from './http2/connection-host.ts'
import type { StatusCode } from './status.ts'

/**
 * Receives the events of a server, for metrics and logs. Methods are resolved once, so that a call costs two function
 * calls.
 */
export interface Observer {
  /**
   * Called once per known method when the server is created, and once with `undefined` for calls to unknown methods.
   */
  method(service: string | undefined, method: string | undefined): MethodObserver
  connectionOpened(): void
  connectionClosed(why: ConnectionEnd): void
  /** A handler threw an error that is not a GrpcError: a bug that should be logged. */
  handlerFailed(path: string, error: unknown): void
}

export interface MethodObserver {
  started(): void
  finished(code: StatusCode, durationMs: number, bytesIn: number, bytesOut: number): void
}
