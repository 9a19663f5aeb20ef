/** The snippets API as users have it: a server with its worker, and the typed client over HTTP. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { type RunningServer, startServer } from '../../src/app/server/server.ts'
import { startWorker } from '../../src/app/worker/worker.ts'
import { silentLog } from '../../src/base/log.ts'
import { type SnippetsClient, snippetsClient } from '../../src/client/snippets/snippets.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'

export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-code-'))
  chmodSync(folder, 0o777)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface CodeServer extends Pick<RunningServer, 'grpc' | 'http' | 'httpUrl' | 'stop'> {
  readonly client: SnippetsClient
}

export async function codeServer(
  folder: string,
  ports = { grpc: 0, http: 0 },
  settings: Readonly<Record<string, string>> = {},
): Promise<CodeServer> {
  const env = {
    ...settings,
    WINDLASS_SERVER_ADDRESS: `127.0.0.1:${ports.grpc}`,
    WINDLASS_SERVER_HTTP_ADDRESS: `127.0.0.1:${ports.http}`,
    WINDLASS_SERVER_DRAIN_SECONDS: '1',
    WINDLASS_SERVER_DATA_DIR: folder,
  }
  const { config } = loadConfig({ env, home: folder })
  const server = await startServer(config, { log: silentLog, clock: systemClock })
  onTestFinished(() => server.stop())
  return { ...server, client: snippetsClient({ url: server.httpUrl, clock: systemClock }) }
}

/** A worker with languages that every machine has on which the tests run. */
export async function codeWorker(
  server: Pick<RunningServer, 'grpc' | 'httpUrl'>,
  names: readonly string[] = ['bash', 'c'],
  protocol: 'grpc' | 'http' = 'grpc',
): Promise<void> {
  const folder = ownFolder()
  const env = {
    WINDLASS_SERVER_DATA_DIR: folder,
    WINDLASS_WORKER_PROTOCOL: protocol,
    WINDLASS_WORKER_SERVER_URL: protocol === 'http' ? server.httpUrl : `http://${server.grpc}`,
    WINDLASS_WORKER_WORKER_ID: 'w1',
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
    WINDLASS_WORKER_HEARTBEAT_INTERVAL_SECONDS: '0.2',
    WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '5',
  }
  const { config } = loadConfig({ env, home: folder })
  const languages = loadLanguages().filter(({ name }) => names.includes(name))
  const worker = await startWorker(config, {
    clock: systemClock,
    log: silentLog,
    env: { PATH: '/usr/bin:/bin' },
    languages,
  })
  onTestFinished(() => worker.stop())
}

/** Waits until workers offer these languages. */
export async function offering({ client }: CodeServer, names: readonly string[]): Promise<void> {
  await until(async () => {
    const offered = (await client.languages()).map(({ name }) => name)
    return names.every((name) => offered.includes(name))
  })
}

async function until(isSo: () => boolean | Promise<boolean>, mostMs = 120_000): Promise<void> {
  const end = performance.now() + mostMs
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('it did not come about')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
