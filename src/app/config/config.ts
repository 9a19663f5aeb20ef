import { z } from 'zod'
import { cwl } from './cwl.ts'
import { capabilities, execution } from './execution.ts'
import { configField, fieldsOf, live } from './field.ts'
import { grpc } from './grpc.ts'
import { limits } from './http-limits.ts'
import { http, server } from './server.ts'
import { snippets } from './snippets.ts'
import { storage } from './storage.ts'
import { worker } from './worker.ts'

const log = z
  .strictObject({
    level: live(z.enum(['debug', 'info', 'warn', 'error']).default('info'), 'Lowest level that is logged.', {
      flag: '--verbose (debug)',
    }),
    format: configField(
      z.enum(['auto', 'pretty', 'json']).default('auto'),
      'Format of log lines on standard error; auto is pretty on a terminal and JSON elsewhere.',
    ),
  })
  .prefault({})

/**
 * The one schema of all settings: the names and defaults of the settings file, the WINDLASS_ variables and the
 * reference page are derived from it. Components get plain values, never the whole config.
 */
const sections = z.strictObject({
  server,
  http,
  limits,
  grpc,
  log,
  storage,
  execution,
  capabilities,
  snippets,
  cwl,
  worker,
})

/**
 * The minimum number of heartbeat intervals in a time-out: with fewer, one or two late heartbeats would make a healthy
 * worker count as lost.
 */
const LEAST_INTERVALS = 3

export const configSchema = sections.superRefine(({ execution, worker }, context) => {
  const { heartbeat_timeout_seconds: timeout } = execution.scheduler
  const { heartbeat_interval_seconds: interval } = worker
  const least = LEAST_INTERVALS * interval
  if (timeout >= least) return
  context.addIssue({
    code: 'custom',
    path: ['execution', 'scheduler', 'heartbeat_timeout_seconds'],
    message:
      `${timeout} is less than three heartbeats of a worker, which sends one every ${interval} s ` +
      `(worker.heartbeat_interval_seconds): set at least ${least}, or a shorter interval`,
  })
})

export type Config = z.output<typeof configSchema>

export const FIELDS = fieldsOf(sections)
