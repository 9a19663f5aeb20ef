import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../src/app/clock.ts'
import { loadConfig } from '../src/app/config-load.ts'
import { startServer } from '../src/app/server.ts'
import { silentLog } from '../src/base/log.ts'

const folder = mkdtempSync(join(tmpdir(), 'windlass-conformance-'))
afterAll(() => rmSync(folder, { recursive: true }))

const FREE = { WINDLASS_SERVER_ADDRESS: '127.0.0.1:0', WINDLASS_SERVER_HTTP_ADDRESS: '127.0.0.1:0' }

/** The suite that we offer to others, held against ourselves: a server on packs, as people start it. */
test('our own server does everything that windlass check reapi asks of one', async () => {
  const { config } = loadConfig({ env: { ...FREE, WINDLASS_SERVER_DATA_DIR: folder }, home: folder })
  const server = await startServer(config, { log: silentLog, clock: systemClock })
  try {
    const windlass = resolve(import.meta.dirname, '../bin/windlass')
    const flags = ['check', 'reapi', '--target', `grpc://${server.grpc}`, '--deadline', '60', '--json']
    // It exits 1, and this rejects with all that it printed, when a single behaviour is not there.
    const { stdout } = await promisify(execFile)(windlass, flags, { maxBuffer: 16 * 1024 * 1024 })
    const { summary } = JSON.parse(stdout)
    expect(summary).toMatchObject({ failed: 0 })
    expect(summary.passed).toBeGreaterThanOrEqual(254)
  } finally {
    await server.stop()
  }
}, 120_000)
