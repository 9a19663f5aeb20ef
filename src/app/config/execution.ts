import { z } from 'zod'
import { STRATEGIES } from '../../scheduler/model/options.ts'
import { configField } from './field.ts'
import { network } from './network.ts'

const seconds = (standard: number) => z.number().positive().max(86_400).default(standard)

const scheduler = z
  .strictObject({
    lease_duration_seconds: configField(
      seconds(300),
      'Duration of a lease in seconds. A worker that does not renew the lease of a task in this time loses the task.',
    ),
    heartbeat_timeout_seconds: configField(
      seconds(120),
      'A worker that sends no heartbeat for this number of seconds is lost, and its tasks are queued again.',
    ),
    degrade_by_load: configField(
      z.boolean().default(true),
      'If true, a worker that reports a load above 98 % gets only half of its slots until the load is below 90 %.',
    ),
    long_poll_timeout_seconds: configField(
      seconds(30),
      "Maximum duration in seconds of a long poll: a worker's request for tasks that waits for the next task.",
    ),
    max_queue_size: configField(
      z.int().min(1).default(10_000),
      'Maximum number of queued tasks. When the queue is full, the server rejects new tasks.',
    ),
    no_worker_grace_seconds: configField(
      seconds(60),
      'Seconds that a task waits for a worker with the properties it requires; then the task fails.',
    ),
    pool_grace_seconds: configField(
      z.record(z.string().min(1), z.number().positive().max(86_400)).default({}),
      'Replaces no_worker_grace_seconds for tasks that require a property. Keys: "NAME=VALUE", or "NAME" for any value.',
    ),
    no_waiter_grace_seconds: configField(
      seconds(60),
      'Seconds until an action is cancelled after its last waiting client disconnects.',
    ),
    reconnect_grace_seconds: configField(
      seconds(30),
      'Seconds after a server restart in which workers can reconnect and keep the tasks that they run.',
    ),
    reserved_slots: configField(
      z.record(z.string(), z.int().min(1).max(100_000)).default({}),
      'Number of slots reserved for an instance, by instance name; tasks of other instances do not use them.',
    ),
    strategy: configField(
      z.enum(STRATEGIES).default('weighted'),
      'How the scheduler selects among matching workers. It prefers workers that have the inputs in their cache.',
    ),
  })
  .prefault({})

const retry = z
  .strictObject({
    max_retries: configField(
      z.int().min(0).max(1000).default(3),
      'Maximum number of retries after an error of the grid. A task can set its own number. 0: no retries.',
    ),
    retry_on_failure: configField(
      z.boolean().default(false),
      'If true, a command that exits with an error is retried, up to max_retries times.',
    ),
    retry_on_timeout: configField(
      z.boolean().default(false),
      'If true, a command that exceeds its timeout is retried, up to max_retries times.',
    ),
    max_lost_workers: configField(
      z.int().min(0).max(1000).default(3),
      'Maximum number of workers that a task may lose; above it, the task fails. Preempted workers do not count.',
    ),
    first_delay_seconds: configField(
      seconds(1),
      'Delay before the first retry, in seconds. The delay doubles with each further retry.',
    ),
    max_delay_seconds: configField(seconds(60), 'Maximum delay between two attempts, in seconds.'),
  })
  .prefault({})

export const execution = z
  .strictObject({
    backend: configField(
      z.enum(['scheduler']).default('scheduler'),
      'How tasks are executed: workers fetch them from a queue.',
    ),
    retention_seconds: configField(
      z
        .number()
        .positive()
        .max(366 * 86_400)
        .default(86_400),
      'Seconds that the server keeps finished tasks and their outputs.',
    ),
    refuse_unknown_properties: configField(
      z.boolean().default(false),
      'If true, a task that requires a property that no worker has ever offered is rejected immediately.',
    ),
    retry,
    scheduler,
    network,
  })
  .prefault({})

export const capabilities = z
  .strictObject({
    exec_enabled: configField(
      z.boolean().default(true),
      'If true, the server executes tasks. If false, it is only a cache.',
    ),
  })
  .prefault({})
