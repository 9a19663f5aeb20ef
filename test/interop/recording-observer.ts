import type { ConnectionEnd } from '../../src/grpc/http2/connection-host.ts'
import type { Observer } from '../../src/grpc/observer.ts'
import type { StatusCode } from '../../src/grpc/status.ts'

export interface RecordingObserver extends Observer {
  opened: number
  readonly closed: ConnectionEnd[]
  readonly finished: { readonly method: string; readonly code: StatusCode }[]
  readonly bugs: unknown[]
}

/** Records the events that a server reports. */
export function recordingObserver(): RecordingObserver {
  const record: RecordingObserver = {
    opened: 0,
    closed: [],
    finished: [],
    bugs: [],
    method: (_service, method = 'unknown') => ({
      started() {},
      finished: (code) => void record.finished.push({ method, code }),
    }),
    connectionOpened: () => void record.opened++,
    connectionClosed: (end) => void record.closed.push(end),
    handlerFailed: (_path, error) => void record.bugs.push(error),
  }
  return record
}
