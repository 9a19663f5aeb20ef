import { z } from 'zod'
import { BACKENDS } from './backends.ts'
import { configField } from './field.ts'

const file = () => z.string().min(1).optional()

const tls = z
  .strictObject({
    ca_file: configField(
      file(),
      'Certificates in PEM that servers must lead to, for https:// and grpcs:// addresses.',
      {
        otherwise: "the system's",
        holdsPath: true,
      },
    ),
    cert_file: configField(file(), 'Certificate that the worker shows, in PEM.', {
      otherwise: 'none is shown',
      holdsPath: true,
    }),
    key_file: configField(file(), 'Private key of that certificate, in PEM.', {
      otherwise: 'none is shown',
      holdsPath: true,
    }),
    server_name: configField(file(), 'The name that servers must prove.', {
      otherwise: "the host in the server's address",
    }),
  })
  .prefault({})

const host = z
  .strictObject({
    work_dir: configField(
      z.string().min(1).optional(),
      'Directory of this worker alone, for rooms and for inputs that are used again.',
      { otherwise: 'worker-1 in data_dir, or the next that is free', holdsPath: true },
    ),
    cache_bytes: configField(
      z
        .int()
        .min(0)
        .default(10 * 1024 ** 3),
      'Disk space for inputs that may be used again.',
    ),
    min_free_bytes: configField(
      z
        .int()
        .min(0)
        .default(1024 ** 3),
      'A worker does not start with less free space in work_dir.',
    ),
    user: configField(
      z.string().min(1).optional(),
      'Who commands run as, by name or as "UID" or "UID:GID"; only a worker that is root can choose.',
      { otherwise: "a user of its own for each room of a worker that is root, and the worker's own user else" },
    ),
    first_room_user: configField(
      z.int().min(1000).max(2_147_479_551).optional(),
      'The first of 4096 user ids for rooms: a worker that is root gives each open room one, unless user is set.',
      { otherwise: 'a range between 1879048192 and 2147483647 that is chosen by the folder of the worker' },
    ),
    use_sandbox: configField(
      z.boolean().default(false),
      'With backend = "host": run commands in a sandbox where the machine offers one, and on the host elsewhere.',
    ),
    env_whitelist: configField(
      z.array(z.string().min(1)).optional(),
      "The worker's environment variables that commands see on the host; rooms have an environment of their own.",
      { otherwise: 'PATH, and HOME where commands run as the user of the worker' },
    ),
  })
  .prefault({})

const docker = z
  .strictObject({
    image: configField(z.string().min(1).optional(), 'Image for tasks that name none.', {
      otherwise: 'tasks must name one',
    }),
    network_mode: configField(
      z.string().min(1).default('none'),
      'Network for containers of tasks that may use one, as Docker names it.',
    ),
    cpu_limit: configField(z.number().positive().optional(), 'Processors a container may use, as in 2.0.', {
      otherwise: 'no limit',
    }),
    memory_limit: configField(z.int().min(1).optional(), 'Memory a container may use, in bytes.', {
      otherwise: 'no limit',
    }),
    pull: configField(
      z.enum(['always', 'if-missing', 'never']).default('if-missing'),
      'When images are fetched; also for apptainer.',
    ),
    image_cache_bytes: configField(
      z
        .int()
        .min(0)
        .default(20 * 1024 ** 3),
      'Disk space for images that were fetched for tasks; those used longest ago go first.',
    ),
    registries: configField(
      z.array(z.string().min(1)).default([]),
      'Hosts that images may come from, as image names have them (ghcr.io, mirror:5000); also for apptainer.',
      { otherwise: 'any that is not written as a private address' },
    ),
  })
  .prefault({})

export const worker = z
  .strictObject({
    worker_id: configField(z.string().min(1).max(200).optional(), 'Name of this worker, unlike that of any other.', {
      otherwise: "the machine's name and an ending of its own",
    }),
    server_url: configField(
      z.string().min(1).default('http://127.0.0.1:8980'),
      'The server that this worker works for: http://, https://, grpc://, grpcs:// or unix:/path.',
      { holdsPath: true },
    ),
    protocol: configField(
      z.enum(['grpc', 'http']).default('grpc'),
      'How the worker speaks to the server: http is for networks where nothing else passes.',
    ),
    cas_url: configField(z.string().min(1).optional(), 'Where inputs are fetched and outputs stored.', {
      otherwise: 'server_url',
      holdsPath: true,
    }),
    headers: configField(
      z.record(z.string().min(1), z.string()).default({}),
      'Headers that the worker sends with every call, such as { authorization = "Bearer …" }.',
    ),
    max_concurrent_tasks: configField(z.int().min(1).max(4096).optional(), 'Tasks that this worker runs at a time.', {
      otherwise: 'one per processor',
    }),
    prefetch_tasks: configField(
      z.int().min(0).max(4096).optional(),
      'Further tasks whose inputs are fetched while all slots are taken.',
      { otherwise: 'one for every four slots' },
    ),
    heartbeat_interval_seconds: configField(
      z.number().positive().max(3600).default(10),
      'How often the worker says that it is alive.',
    ),
    report_load: configField(
      z.boolean().default(true),
      'Whether heartbeats report how much tasks wait for processors that others use.',
    ),
    drain_timeout_seconds: configField(
      z.number().min(0).max(86_400).default(300),
      'How long a worker lets its tasks finish after Ctrl+C (SIGINT) or an order of the server.',
    ),
    drain_seconds: configField(
      z.number().min(0).max(86_400).default(25),
      'How long a worker has after SIGTERM to report that it is preempted, end its commands and clean up.',
    ),
    backend: configField(
      z.enum(BACKENDS).default('auto'),
      'What commands run in: auto is the stronger of sandbox and unshare that works here, and host no room at all.',
    ),
    platform: configField(
      z.record(z.string(), z.string()).default({}),
      'Properties that tasks may ask for, over OSFamily and Arch of the machine; the value "*" fits any.',
    ),
    default_memory_bytes: configField(
      z.int().min(1).optional(),
      'Memory for a command whose task names no limit, of all its processes together.',
      { otherwise: 'three quarters of the memory of the machine' },
    ),
    default_processes: configField(
      z.int().min(1).default(4096),
      'Processes and threads for a command whose task names no limit.',
    ),
    labels: configField(
      z.record(z.string(), z.string()).default({}),
      'Further properties, which tasks ask for as "label:NAME".',
    ),
    languages: configField(
      z.array(z.string().min(1)).optional(),
      'Languages that this worker offers, if they work here; none for [], also when its variable is empty.',
      { otherwise: 'all that work here', emptyIsNone: true },
    ),
    warm_interpreters: configField(
      z.int().min(0).max(1024).optional(),
      'Interpreters that are started ahead and wait for code, each in a room of its own; none for 0.',
      { otherwise: 'two per slot, eight at most' },
    ),
    group: configField(z.string().default(''), 'The group of this worker, which tasks ask for as "group".'),
    preemptible: configField(z.boolean().default(false), 'Whether this machine may be taken away at short notice.'),
    tls,
    host,
    docker,
  })
  .prefault({})
