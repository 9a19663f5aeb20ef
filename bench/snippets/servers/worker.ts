/** A whole worker with sandboxes, with or without warm interpreters. */

import { loadConfig } from '../../../src/app/config/load.ts'
import { systemClock } from '../../../src/app/process/clock.ts'
import { startWorker } from '../../../src/app/worker/worker.ts'
import { silentLog } from '../../../src/base/log.ts'
import { loadLanguages } from '../../../src/languages/load-languages.ts'
import { answerWith } from '../../child.ts'

export interface WorkerQuestion {
  readonly server: string
  readonly folder: string
  readonly warm: number
  readonly slots: number
  readonly languages: readonly string[]
}

answerWith(async ({ server, folder, warm, slots, languages: names }: WorkerQuestion) => {
  const env = {
    WINDLASS_SERVER_DATA_DIR: folder,
    WINDLASS_WORKER_SERVER_URL: `http://${server}`,
    WINDLASS_WORKER_BACKEND: 'sandbox',
    WINDLASS_WORKER_WARM_INTERPRETERS: `${warm}`,
    WINDLASS_WORKER_MAX_CONCURRENT_TASKS: `${slots}`,
    WINDLASS_WORKER_PREFETCH_TASKS: '0',
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
  }
  const { config } = loadConfig({ env, home: folder })
  const languages = loadLanguages().filter(({ name }) => names.includes(name))
  await startWorker(config, { clock: systemClock, log: silentLog, env: {}, languages })
})
