import { parentPort, workerData } from 'node:worker_threads'
import { serveRuns } from '../../services/workflows/driver/serve-runs.ts'
import type { RunLimits } from '../../services/workflows/driver/thread-driver.ts'
import { stagersByScheme } from '../../stagers/by-scheme.ts'
import { casStager } from '../../stagers/cas-stager.ts'
import { systemClock } from '../process/clock.ts'
import { openExpressions } from './expressions.ts'

/** The main module of a thread that drives workflow runs. */
if (parentPort !== null) {
  const limits = workerData as RunLimits
  serveRuns(parentPort, {
    clock: systemClock,
    expressions: openExpressions(limits.expressions),
    outputJsonBytes: limits.outputJsonBytes,
    stagerOf: (trees, remote) => stagersByScheme({ cas: casStager(trees) }, remote),
  })
}
