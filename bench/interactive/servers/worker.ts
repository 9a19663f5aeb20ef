/** A whole worker with a sandbox and the one language of this bench. */

import { loadConfig } from '../../../src/app/config/load.ts'
import { systemClock } from '../../../src/app/process/clock.ts'
import { startWorker } from '../../../src/app/worker/worker.ts'
import { silentLog } from '../../../src/base/log.ts'
import { loadLanguages } from '../../../src/languages/load-languages.ts'
import { answerWith } from '../../child.ts'

export interface WorkerQuestion {
  readonly server: string
  readonly folder: string
}

answerWith(async ({ server, folder }: WorkerQuestion) => {
  const env = {
    WINDLASS_SERVER_DATA_DIR: folder,
    WINDLASS_WORKER_SERVER_URL: `http://${server}`,
    WINDLASS_WORKER_BACKEND: 'sandbox',
    WINDLASS_WORKER_HOST_MIN_FREE_BYTES: '1',
  }
  const { config } = loadConfig({ env, home: folder })
  const languages = loadLanguages().filter(({ name }) => name === 'bash')
  await startWorker(config, { clock: systemClock, log: silentLog, env: {}, languages })
})
