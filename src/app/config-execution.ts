import { z } from 'zod'
import { later } from './config-field.ts'

const seconds = (standard: number) => z.number().positive().max(86_400).default(standard)

const scheduler = z
  .strictObject({
    lease_duration_seconds: later(seconds(300), 'How long a worker may hold a task without renewing its lease.'),
    heartbeat_timeout_seconds: later(seconds(120), 'A worker that was silent for so long is taken for gone.'),
    long_poll_timeout_seconds: later(seconds(30), 'The longest that a worker asking for work is kept waiting.'),
    max_queue_size: later(z.int().min(1).default(10_000), 'Tasks that may wait; further ones are refused.'),
  })
  .prefault({})

export const execution = z
  .strictObject({
    backend: later(z.enum(['scheduler']).default('scheduler'), 'How tasks are run: a queue that workers take from.'),
    scheduler,
  })
  .prefault({})

export const capabilities = z
  .strictObject({
    exec_enabled: later(z.boolean().default(true), 'Whether tasks are taken, or only caching is offered.'),
  })
  .prefault({})
