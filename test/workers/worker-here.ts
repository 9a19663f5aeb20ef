import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { loadConfig } from '../../src/app/config/load.ts'
import { systemClock } from '../../src/app/process/clock.ts'
import { type RunningWorker, startWorker } from '../../src/app/worker/worker.ts'
import { silentLog } from '../../src/base/log.ts'
import { LANGUAGE_PROPERTY, type Language } from '../../src/model/language.ts'
import { type TestGrid, until } from './grid.ts'

/** A folder that is deleted at the end of the test, and is open to the user that commands run as. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-worker-'))
  chmodSync(folder, 0o777)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface WorkerHere extends RunningWorker {
  readonly folder: string
}

/** A whole worker in this process, configured by variables; it is stopped at the end of the test if not before. */
export async function workerHere(
  address: string,
  settings: Record<string, string> = {},
  languages: readonly Language[] = [],
): Promise<WorkerHere> {
  const folder = ownFolder()
  const env = {
    WINDLASS_SERVER_DATA_DIR: folder,
    WINDLASS_WORKER_SERVER_URL: `http://${address}`,
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
    WINDLASS_WORKER_BACKEND: 'host',
    WINDLASS_WORKER_HEARTBEAT_INTERVAL_SECONDS: '0.1',
    WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '10',
    ...settings,
  }
  const { config } = loadConfig({ env, home: folder })
  const worker = await startWorker(config, {
    clock: systemClock,
    log: silentLog,
    env: { PATH: '/usr/bin:/bin', DOCKER_HOST: settings.DOCKER_HOST },
    languages,
  })
  onTestFinished(() => worker.stop())
  return { ...worker, folder }
}

/** A worker with a sandbox that runs code in these languages; resolves when it offers them all. */
export async function speakingWorker(grid: TestGrid, languages: readonly Language[]): Promise<void> {
  const settings = {
    WINDLASS_WORKER_BACKEND: 'sandbox',
    WINDLASS_WORKER_MAX_CONCURRENT_TASKS: '4',
    WINDLASS_WORKER_DRAIN_TIMEOUT_SECONDS: '1',
    WINDLASS_WORKER_HEARTBEAT_INTERVAL_SECONDS: '10',
  }
  await workerHere(grid.address, settings, languages)
  const offers = (name: string): boolean =>
    grid.engine.workers
      .list()
      .some(({ properties }) => properties.some((each) => each.name === LANGUAGE_PROPERTY && each.value === name))
  await until(() => languages.every(({ name }) => offers(name)))
}
