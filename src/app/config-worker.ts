import { z } from 'zod'
import { later } from './config-field.ts'

const host = z
  .strictObject({
    work_dir: later(z.string().min(1).optional(), 'Directory that rooms are made in.', {
      otherwise: 'rooms in data_dir',
    }),
    use_sandbox: later(z.boolean().default(true), 'Run commands in a sandbox where the machine offers one.'),
    env_whitelist: later(
      z.array(z.string().min(1)).default(['PATH', 'HOME']),
      "The worker's own environment variables that commands may see.",
    ),
  })
  .prefault({})

const docker = z
  .strictObject({
    image: later(z.string().min(1).optional(), 'Image for tasks that name none.', { otherwise: 'tasks must name one' }),
    network_mode: later(
      z.string().min(1).default('none'),
      'Network that containers are attached to, as Docker names it.',
    ),
    cpu_limit: later(z.number().positive().optional(), 'Processors a container may use, as in 2.0.', {
      otherwise: 'no limit',
    }),
    memory_limit: later(z.int().min(1).optional(), 'Memory a container may use, in bytes.', { otherwise: 'no limit' }),
  })
  .prefault({})

export const worker = z
  .strictObject({
    worker_id: later(z.string().min(1).optional(), 'Name of this worker, unlike that of any other.', {
      otherwise: "the machine's name",
    }),
    server_url: later(z.string().min(1).default('http://127.0.0.1:8980'), 'The server that this worker works for.'),
    cas_url: later(z.string().min(1).optional(), 'Where inputs are fetched and outputs stored.', {
      otherwise: 'server_url',
    }),
    max_concurrent_tasks: later(z.int().min(1).optional(), 'Tasks that this worker runs at a time.', {
      otherwise: 'one per processor',
    }),
    heartbeat_interval_seconds: later(z.number().positive().default(30), 'How often the worker says that it is alive.'),
    backend: later(z.enum(['host', 'sandbox', 'docker']).default('host'), 'What commands run in.'),
    platform: later(
      z.record(z.string(), z.string()).default({}),
      'Properties that tasks may ask for, such as OSFamily = "Linux".',
    ),
    host,
    docker,
  })
  .prefault({})
