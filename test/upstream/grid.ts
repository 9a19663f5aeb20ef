import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { startServer } from '../../src/app/server/server.ts'
import { type Log, silentLog } from '../../src/base/log.ts'
import { cacheClient } from '../cache/cache-client.ts'

const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

const folder = mkdtempSync(join(tmpdir(), 'windlass-upstream-'))
afterAll(() => rmSync(folder, { recursive: true }))
const ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

export const dataDir = (): string => mkdtempSync(join(folder, 'data-'))

/** The upstream as a separate process, so that it can be killed. */
export async function startUpstream(data: string, address = '127.0.0.1:0') {
  const flags = ['server', '--json', '--grpc', address, '--http', '127.0.0.1:0', '--data', data]
  const child = spawn(WINDLASS, flags, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, WINDLASS_LOG_LEVEL: 'error' },
  })
  const gone = new Promise((done) => child.once('close', done))
  const came = new Promise<string>((done) => createInterface({ input: child.stdout }).once('line', done))
  const line = await Promise.race([came, gone])
  if (typeof line !== 'string') throw new Error('the upstream did not start')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await gone
  }
  ending.push(kill)
  return { grpc: JSON.parse(line).grpc as string, kill }
}

export interface Behind {
  readonly log?: Log
  readonly file?: string
}

/** A server in this process that reads through the one at `address`. */
export async function startBehind(
  address: string | undefined,
  env: Record<string, string> = {},
  { log = silentLog, file }: Behind = {},
) {
  const own = {
    WINDLASS_SERVER_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0',
    WINDLASS_SERVER_DATA_DIR: dataDir(),
    WINDLASS_SERVER_DRAIN_SECONDS: '1',
    ...(address === undefined ? {} : { WINDLASS_STORAGE_UPSTREAM_URL: `grpc://${address}` }),
  }
  const { config } = loadConfig({ file, env: { ...own, ...env }, home: folder })
  const server = await startServer(config, { log, clock: systemClock })
  ending.push(() => server.stop())
  return server
}

export function clientOf(address: string, instance = '') {
  const client = cacheClient(address, { instance })
  ending.push(() => client.close())
  return client
}
