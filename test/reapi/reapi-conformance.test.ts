import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { startServer } from '../../src/app/server/server.ts'
import { startWorker } from '../../src/app/worker/worker.ts'
import { silentLog } from '../../src/base/log.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-conformance-'))
afterAll(() => rmSync(folder, { recursive: true }))

const FREE = { WINDLASS_SERVER_ADDRESS: '127.0.0.1:0', WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0' }
const WINDLASS = resolve(import.meta.dirname, '../../bin/windlass')

interface Row {
  readonly id: string
  readonly outcome: string
}

/** Enough slots for checks that wait for a while. */
const WORKING = {
  WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '8',
  WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
  WINDLASS_WORKER_BACKEND: 'host', // isolation would hide processes that a timeout leaves behind
}

/** The report of `windlass check reapi` on our own server with a pack store and a worker. */
async function checked(instance: string, settings = ''): Promise<{ summary: Record<string, number>; results: Row[] }> {
  const home = mkdtempSync(join(folder, 'data-'))
  const file = join(home, 'windlass.toml')
  writeFileSync(file, settings)
  const { config } = loadConfig({ file, env: { ...FREE, WINDLASS_SERVER_DATA_DIR: home }, home })
  const server = await startServer(config, { log: silentLog, clock: systemClock })
  const env = { ...WORKING, WINDLASS_WORKER_SERVER_URL: `http://${server.grpc}`, WINDLASS_SERVER_DATA_DIR: home }
  const worker = await startWorker(loadConfig({ env, home }).config, {
    log: silentLog,
    clock: systemClock,
    env: { PATH: '/usr/bin:/bin' },
  })
  try {
    const flags = ['check', 'reapi', '--target', `grpc://${server.grpc}`, '--deadline', '60', '--json']
    if (instance !== '') flags.push('--instance', instance)
    // The command exits with 1 when a single behaviour fails, and this rejects with all its output.
    const { stdout } = await promisify(execFile)(WINDLASS, flags, { maxBuffer: 16 * 1024 * 1024 })
    return JSON.parse(stdout)
  } finally {
    await worker.stop()
    await server.stop()
  }
}

/** Behaviours that are checked only on servers that declare them, or lack them, other than ours. */
const NEVER = [
  'execute.server-logs',
  'capabilities.split-declared',
  'capabilities.splice-declared',
  'digests.gitsha1',
  'action-cache.update.denied',
]

async function expectEverything(instance: string, expected: { settings?: string; notOffered: readonly string[] }) {
  const { summary, results } = await checked(instance, expected.settings)
  const notOffered = results.filter(({ outcome }) => outcome === 'not offered').map(({ id }) => id)
  expect(notOffered.sort()).toEqual([...NEVER, ...expected.notOffered].sort())
  expect(summary).toEqual({ passed: results.length - notOffered.length, failed: 0, notOffered: notOffered.length })
  expect(results.length).toBeGreaterThanOrEqual(415)
}

/** Our own conformance suite against our own server. */
describe('windlass check reapi against our server', { timeout: 180_000 }, () => {
  test('passes without an instance', () => expectEverything('', { notOffered: ['names.slashed-instance'] }))

  test('passes for an instance with a slash', () => expectEverything('a/b', { notOffered: [] }))

  // The suite uses SHA-256 wherever it is advertised, and in this instance resource names cannot select it.
  test('passes for an instance with BLAKE3 as its default digest function', () =>
    expectEverything('of/blake3', {
      settings: '[storage.digest_functions]\n"of/blake3" = "blake3"\n',
      notOffered: ['digests.inferred', 'digests.sha256', 'names.needless-segment'],
    }))
})
