import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../../base/log.ts'
import { loadConfig } from '../config/load.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { storeFigures } from '../metrics/storage.ts'
import { systemClock } from '../process/clock.ts'
import { GRID_METHODS, GRID_SOCKETS } from './grid-methods.ts'
import { openGridIfPossible } from './open-grid.ts'
import { createReadiness } from './readiness.ts'
import { openStorage } from './storage.ts'

test('GRID_METHODS and GRID_SOCKETS equal the methods and sockets of a real grid', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-methods-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const { config } = loadConfig({ env: { WINDLASS_SERVER_DATA_DIR: folder }, home: folder })
  const { registry } = createMetrics(systemClock.monotonic)
  const tools = { clock: systemClock, log: silentLog }
  const storage = await openStorage(config, { ...tools, meter: storeFigures(registry) })
  onTestFinished(() => storage.close())
  const grid = await openGridIfPossible(config, { ...tools, storage, registry, readiness: createReadiness() })
  onTestFinished(() => grid?.close())
  const kinds = grid?.services.map(({ name, methods }) => [
    name,
    Object.fromEntries(Object.entries(methods).map(([method, { kind }]) => [method, kind])),
  ])
  expect(Object.fromEntries(kinds ?? [])).toEqual(GRID_METHODS)
  expect(grid?.sockets.map(({ path, maxMessageBytes }) => ({ path, maxMessageBytes }))).toEqual(
    GRID_SOCKETS.map(({ path, maxMessageBytes }) => ({ path, maxMessageBytes })),
  )
})
