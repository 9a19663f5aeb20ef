import { parentPort } from 'node:worker_threads'
import { serveRuns } from '../submissions/serve-runs.ts'
import { systemClock } from './clock.ts'

/** The program of a thread that drives submissions. */
if (parentPort !== null) serveRuns(parentPort, systemClock)
