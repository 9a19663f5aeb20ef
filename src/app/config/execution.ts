import { z } from 'zod'
import { STRATEGIES } from '../../scheduler/model/options.ts'
import { configField } from './field.ts'
import { network } from './network.ts'

const seconds = (standard: number) => z.number().positive().max(86_400).default(standard)

const scheduler = z
  .strictObject({
    lease_duration_seconds: configField(seconds(300), 'How long a worker may hold a task without renewing its lease.'),
    heartbeat_timeout_seconds: configField(seconds(120), 'A worker that was silent for so long is taken for gone.'),
    degrade_by_load: configField(
      z.boolean().default(true),
      'Whether a worker that reports a load over 98 % gets half of its slots until it is under 90 %.',
    ),
    long_poll_timeout_seconds: configField(seconds(30), 'The longest that a worker asking for work is kept waiting.'),
    max_queue_size: configField(z.int().min(1).default(10_000), 'Tasks that may wait; further ones are refused.'),
    no_worker_grace_seconds: configField(seconds(60), 'How long a task that no worker fits waits for one to come.'),
    pool_grace_seconds: configField(
      z.record(z.string().min(1), z.number().positive().max(86_400)).default({}),
      'Another no_worker_grace_seconds for tasks that ask for a property: by "NAME=VALUE", or "NAME" for any value.',
    ),
    no_waiter_grace_seconds: configField(seconds(60), 'How long an action runs on when nobody waits for it any more.'),
    reconnect_grace_seconds: configField(
      seconds(30),
      'How long workers have after a restart of the server to come back with what they were running.',
    ),
    reserved_slots: configField(
      z.record(z.string(), z.int().min(1).max(100_000)).default({}),
      'Slots of the fleet that an instance can always have, by its name: others leave as many free as it lacks.',
    ),
    strategy: configField(
      z.enum(STRATEGIES).default('weighted'),
      'How a worker is chosen among those that fit, after those that have the inputs already.',
    ),
  })
  .prefault({})

const retry = z
  .strictObject({
    max_retries: configField(
      z.int().min(0).max(1000).default(3),
      'How often a task is tried again after faults of the grid; a task may ask for another number.',
    ),
    retry_on_failure: configField(
      z.boolean().default(false),
      'Whether a command that ends without success is tried again, within max_retries.',
    ),
    retry_on_timeout: configField(
      z.boolean().default(false),
      'Whether a command that ran for longer than it may is tried again, within max_retries.',
    ),
    max_lost_workers: configField(
      z.int().min(0).max(1000).default(3),
      'A task that was lost together with more workers than that fails; preempted workers do not count.',
    ),
    first_delay_seconds: configField(
      seconds(1),
      'The wait before the first further attempt; it doubles with each one.',
    ),
    max_delay_seconds: configField(seconds(60), 'The longest wait between two attempts.'),
  })
  .prefault({})

export const execution = z
  .strictObject({
    backend: configField(
      z.enum(['scheduler']).default('scheduler'),
      'How tasks are run: a queue that workers take from.',
    ),
    retention_seconds: configField(
      z
        .number()
        .positive()
        .max(366 * 86_400)
        .default(86_400),
      'How long finished tasks can be asked after, and what they made is kept.',
    ),
    refuse_unknown_properties: configField(
      z.boolean().default(false),
      'Whether a task is refused at once when it asks for a property that no worker has ever offered.',
    ),
    retry,
    scheduler,
    network,
  })
  .prefault({})

export const capabilities = z
  .strictObject({
    exec_enabled: configField(z.boolean().default(true), 'Whether tasks are taken, or only caching is offered.'),
  })
  .prefault({})
