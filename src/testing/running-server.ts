import { loadConfig } from '../app/config/load.ts'
import { systemClock } from '../app/process/clock.ts'
import { startServer } from '../app/server/server.ts'
import type { Clock } from '../base/clock.ts'
import { silentLog } from '../base/log.ts'

export interface RunningTestServer {
  /** `grpc://127.0.0.1:port` */
  readonly target: string
  /** The real clock, for clients. */
  readonly clock: Clock
  /** Advances the server's clock. */
  advance(ms: number): void
  stop(): Promise<void>
}

/** A complete server on free ports in a folder of the test. `settings` are keys such as STORAGE_CAS_MAX_BYTES. */
export async function runningServer(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningTestServer> {
  const env: Record<string, string> = {
    WINDLASS_SERVER_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_DRAIN_SECONDS: '1',
    WINDLASS_SERVER_DATA_DIR: folder,
  }
  for (const [key, value] of Object.entries(settings)) env[`WINDLASS_${key}`] = value
  let ahead = 0
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
  }
  const { config } = loadConfig({ env, home: folder })
  const server = await startServer(config, { log: silentLog, clock })
  return {
    target: `grpc://${server.grpc}`,
    clock: systemClock,
    advance(ms) {
      ahead += ms
    },
    stop: server.stop,
  }
}
