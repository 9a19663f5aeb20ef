import { z } from 'zod'
import { BACKENDS } from './backends.ts'
import { configField } from './field.ts'

const file = () => z.string().min(1).optional()

const tls = z
  .strictObject({
    ca_file: configField(
      file(),
      'CA certificates in PEM that verify the certificates of servers with https:// and grpcs:// addresses.',
      {
        otherwise: "the system's",
        holdsPath: true,
      },
    ),
    cert_file: configField(file(), 'Client certificate of the worker, in PEM.', {
      otherwise: 'no client certificate',
      holdsPath: true,
    }),
    key_file: configField(file(), 'Private key of that certificate, in PEM.', {
      otherwise: 'no client certificate',
      holdsPath: true,
    }),
    server_name: configField(file(), 'Host name that the certificate of the server must contain.', {
      otherwise: "the host in the server's address",
    }),
  })
  .prefault({})

const host = z
  .strictObject({
    work_dir: configField(
      z.string().min(1).optional(),
      'Directory for rooms and the input cache. Workers must not share it.',
      { otherwise: 'worker-1 in data_dir, or the next number that no other worker uses', holdsPath: true },
    ),
    cache_bytes: configField(
      z
        .int()
        .min(0)
        .default(10 * 1024 ** 3),
      'Maximum size of the input cache, in bytes. 0: inputs are not cached.',
    ),
    min_free_bytes: configField(
      z
        .int()
        .min(0)
        .default(1024 ** 3),
      'Minimum free disk space in work_dir, in bytes. With less, the worker does not start.',
    ),
    user: configField(
      z.string().min(1).optional(),
      'User that runs commands: a name, "UID" or "UID:GID". Only a worker that runs as root can set it.',
      { otherwise: "as root, a separate user for each room; otherwise the worker's own user" },
    ),
    first_room_user: configField(
      z.int().min(1000).max(2_147_479_551).optional(),
      'First of 4096 user ids for rooms: a worker that runs as root assigns one to each room, unless user is set.',
      { otherwise: 'a range between 1879048192 and 2147483647, derived from work_dir' },
    ),
    use_sandbox: configField(
      z.boolean().default(false),
      'If true and backend = "host", commands run in a sandbox if the machine supports one, otherwise on the host.',
    ),
    env_whitelist: configField(
      z.array(z.string().min(1)).optional(),
      'Environment variables of the worker that commands on the host inherit. Commands in rooms inherit none.',
      { otherwise: 'PATH, and HOME if commands run as the user of the worker' },
    ),
  })
  .prefault({})

const docker = z
  .strictObject({
    image: configField(z.string().min(1).optional(), 'Image for tasks that do not set one.', {
      otherwise: 'tasks must set one',
    }),
    network_mode: configField(
      z.string().min(1).default('none'),
      'Docker network mode for containers of tasks that may use a network.',
    ),
    cpu_limit: configField(z.number().positive().optional(), 'Maximum number of CPUs of a container, such as 2.0.', {
      otherwise: 'no limit',
    }),
    memory_limit: configField(z.int().min(1).optional(), 'Maximum memory of a container, in bytes.', {
      otherwise: 'no limit',
    }),
    pull: configField(
      z.enum(['always', 'if-missing', 'never']).default('if-missing'),
      'When images are pulled; also for apptainer.',
    ),
    image_cache_bytes: configField(
      z
        .int()
        .min(0)
        .default(20 * 1024 ** 3),
      'Maximum disk space for pulled images, in bytes. Above it, the least recently used images are deleted.',
    ),
    registries: configField(
      z.array(z.string().min(1)).default([]),
      'Registries that images may be pulled from, as in image names (ghcr.io, mirror:5000); also for apptainer.',
      { otherwise: 'all registries except those given as a private address' },
    ),
  })
  .prefault({})

export const worker = z
  .strictObject({
    worker_id: configField(z.string().min(1).max(200).optional(), 'Unique id of this worker.', {
      otherwise: 'the host name with a unique suffix',
    }),
    server_url: configField(
      z.string().min(1).default('http://127.0.0.1:8980'),
      'Server that assigns tasks to this worker: http://, https://, grpc://, grpcs:// or unix:/path.',
      { holdsPath: true },
    ),
    protocol: configField(
      z.enum(['grpc', 'http']).default('grpc'),
      'Protocol between worker and server. Use http in networks that do not allow gRPC.',
    ),
    cas_url: configField(z.string().min(1).optional(), 'Server for downloads of inputs and uploads of outputs.', {
      otherwise: 'server_url',
      holdsPath: true,
    }),
    headers: configField(
      z.record(z.string().min(1), z.string()).default({}),
      'Headers of every call of the worker, such as authorization = "Bearer …".',
    ),
    max_concurrent_tasks: configField(
      z.int().min(1).max(4096).optional(),
      'Maximum number of tasks that this worker runs concurrently (slots).',
      {
        otherwise: 'one per CPU',
      },
    ),
    prefetch_tasks: configField(
      z.int().min(0).max(4096).optional(),
      'Number of additional tasks whose inputs are downloaded while all slots are in use. 0: none.',
      { otherwise: 'one per four slots' },
    ),
    heartbeat_interval_seconds: configField(
      z.number().positive().max(3600).default(10),
      'Seconds between two heartbeats of the worker.',
    ),
    report_load: configField(
      z.boolean().default(true),
      'If true, heartbeats report the CPU pressure: how long tasks wait for a CPU that other processes use.',
    ),
    drain_timeout_seconds: configField(
      z.number().min(0).max(86_400).default(300),
      'Seconds that a worker waits for its tasks after SIGINT (Ctrl+C) or a drain request of the server.',
    ),
    drain_seconds: configField(
      z.number().min(0).max(86_400).default(25),
      'Seconds after SIGTERM in which the worker reports its preemption, kills its commands and cleans up.',
    ),
    backend: configField(
      z.enum(BACKENDS).default('auto'),
      'How commands are isolated: auto selects sandbox, or unshare if sandbox does not work; host does not isolate.',
    ),
    platform: configField(
      z.record(z.string(), z.string()).default({}),
      'Properties that tasks can require, added to OSFamily and Arch of the machine; "*" matches any value.',
    ),
    default_memory_bytes: configField(
      z.int().min(1).optional(),
      'Memory limit in bytes for all processes of a command whose task sets no limit.',
      { otherwise: '3/4 of the memory of the machine' },
    ),
    default_processes: configField(
      z.int().min(1).default(4096),
      'Maximum number of processes and threads of a command whose task sets no limit.',
    ),
    labels: configField(
      z.record(z.string(), z.string()).default({}),
      'Additional properties, which tasks require as "label:NAME".',
    ),
    languages: configField(
      z.array(z.string().min(1)).optional(),
      'Languages that this worker offers if they are installed. [] or an empty variable: none.',
      { otherwise: 'all installed languages', emptyIsNone: true },
    ),
    warm_interpreters: configField(
      z.int().min(0).max(1024).optional(),
      'Number of interpreters that are started before code arrives, each in its own room. 0: none.',
      { otherwise: 'two per slot, at most eight' },
    ),
    group: configField(z.string().default(''), 'Group of this worker, which tasks require as the property "group".'),
    preemptible: configField(
      z.boolean().default(false),
      'If true, the scheduler expects that this machine can be stopped at short notice (a spot instance).',
    ),
    tls,
    host,
    docker,
  })
  .prefault({})
