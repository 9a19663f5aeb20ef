import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { type RunningServer, startServer } from '../../src/app/server/server.ts'
import { silentLog } from '../../src/base/log.ts'
import { type CacheClient, type ClientOptions, cacheClient } from './cache-client.ts'

const FREE = { WINDLASS_SERVER_ADDRESS: '127.0.0.1:0', WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0' }

/** A directory that is deleted at the end of the test. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-cache-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A whole server in this process, configured like a file; it is stopped at the end of the test if not before. */
export async function serverIn(folder: string, settings = ''): Promise<RunningServer> {
  const file = join(folder, 'windlass.toml')
  writeFileSync(file, settings)
  const env = { ...FREE, WINDLASS_SERVER_DATA_DIR: join(folder, 'data'), WINDLASS_SERVER_DRAIN_SECONDS: '1' }
  const { config } = loadConfig({ file, env, home: folder })
  const server = await startServer(config, { log: silentLog, clock: systemClock })
  onTestFinished(() => server.stop())
  return server
}

/** A client that is closed at the end of the test. */
export function clientOf(address: string, options?: ClientOptions): CacheClient {
  const client = cacheClient(address, options)
  onTestFinished(() => client.close())
  return client
}
