import { z } from 'zod'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../../base/digest.ts'
import { parseTarget } from '../../client/connection/target.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import { configField } from './field.ts'

const GiB = 1024 ** 3
const MiB = 1024 ** 2
const FUNCTIONS = Object.keys(DIGEST_FUNCTIONS) as [DigestFunction, ...DigestFunction[]]

const folder = () => z.string().min(1).optional()
const file = () => z.string().min(1).optional()

const cas = z
  .strictObject({
    backend: configField(
      z.enum(['filesystem', 'grpc']).default('filesystem'),
      'Where blobs and results are kept: in pack files on a local disk, or only in the upstream (grpc).',
    ),
    root_dir: configField(folder(), 'Directory for blobs, and for results of actions.', {
      otherwise: 'cas in data_dir',
      holdsPath: true,
    }),
    max_bytes: configField(
      z
        .int()
        .min(64 * MiB)
        .default(32 * GiB),
      'How much disk blobs may take; past it, what was not asked for the longest goes.',
    ),
    min_free_bytes: configField(
      z
        .int()
        .min(0)
        .default(64 * MiB),
      'Disk space that blobs leave free for the journal and logs, at most an eighth of the file system; 0 turns it off.',
    ),
    pack_bytes: configField(
      z
        .int()
        .min(MiB)
        .max(16 * GiB)
        .default(256 * MiB),
      'The size of one pack file: disk space is given back in such steps.',
    ),
    durability: configField(
      z.enum(['process', 'power']).default('process'),
      'What an upload survives once it is acknowledged: the end of the process, or of the power (an fsync each time).',
    ),
    verify_reads: configField(
      z.enum(['first', 'always']).default('first'),
      'When checksums are looked at: at the first read after a start, or at every one.',
    ),
    scrub_bytes_per_second: configField(
      z
        .int()
        .min(0)
        .default(8 * MiB),
      'How fast everything on disk is read over for decay, all the time; 0 turns it off.',
    ),
  })
  .prefault({})

const actionCache = z
  .strictObject({
    backend: configField(
      z.enum(['filesystem']).default('filesystem'),
      'Where results of actions are kept: with the blobs, wherever those are.',
    ),
    root_dir: configField(folder(), 'Directory for results of actions, if they are to be kept apart from the blobs.', {
      otherwise: 'they are kept with the blobs',
      holdsPath: true,
    }),
    max_bytes: configField(
      z
        .int()
        .min(64 * MiB)
        .default(2 * GiB),
      'How much disk results may take in root_dir; past it, what was not asked for the longest goes.',
    ),
    read_only_instances: configField(
      z.array(z.string()).default([]),
      'Instances whose callers may read results of actions and not put any; "" is the unnamed one.',
    ),
  })
  .prefault({})

const upstreamTls = z
  .strictObject({
    ca_file: configField(file(), "Certificates in PEM that the upstream's must lead to.", {
      otherwise: "the system's",
      holdsPath: true,
    }),
    cert_file: configField(file(), 'Our own certificate in PEM, for an upstream that asks for one.', {
      otherwise: 'none',
      holdsPath: true,
    }),
    key_file: configField(file(), 'Private key of that certificate, in PEM.', { otherwise: 'none', holdsPath: true }),
    server_name: configField(file(), 'The name that the upstream must prove.', { otherwise: 'the host in url' }),
  })
  .prefault({})
  .superRefine(({ cert_file, key_file }, context) => {
    if ((cert_file === undefined) === (key_file === undefined)) return
    context.addIssue({ code: 'custom', message: 'cert_file and key_file go together: set both or none' })
  })

const upstream = z
  .strictObject({
    url: configField(
      z
        .string()
        .refine((text) => parseTarget(text) !== undefined, {
          error: 'expected grpc://host:port, grpcs://host:port or unix:/path',
        })
        .optional(),
      'Another server of the Remote Execution API to read through: grpc://, grpcs:// or unix:/path.',
      { otherwise: 'no upstream', holdsPath: true },
    ),
    instance: configField(
      z
        .string()
        .refine((name) => instanceNameProblem(name) === undefined, { error: 'expected the name of an instance' })
        .optional(),
      'The one instance to use there; all instances here that share space 0 then share its results.',
      { otherwise: 'each by its own name' },
    ),
    write_through: configField(z.boolean().default(false), 'Whether what is written here is written there too.'),
    when_down: configField(
      z.enum(['absent', 'unavailable']).default('absent'),
      'What a miss is while the upstream is away: absent, so that builds go on, or an error.',
    ),
    timeout_seconds: configField(
      z.number().min(0.1).max(3600).default(30),
      'How long it may take to answer, or in a stream to send or take the next piece.',
    ),
    headers: configField(
      z.record(z.string(), z.string()).default({}),
      'Sent to the upstream with every call, such as authorization = "Bearer …".',
    ),
    tls: upstreamTls,
  })
  .prefault({})

export const storage = z
  .strictObject({
    cas,
    action_cache: actionCache,
    upstream,
    spaces: configField(
      z.record(z.string(), z.int().min(0).max(254)).default({}),
      'Instances whose blobs are kept apart, each with the number of its space; all others share space 0.',
    ),
    digest_functions: configField(
      z.record(z.string(), z.enum(FUNCTIONS)).default({}),
      'Instances whose clients use another digest function than sha256 without naming it, such as "blake3".',
    ),
  })
  .prefault({})
  .superRefine(({ cas, upstream }, context) => {
    if (cas.backend !== 'grpc' || upstream.url !== undefined) return
    context.addIssue({ code: 'custom', path: ['cas', 'backend'], message: '"grpc" needs url under [storage.upstream]' })
  })
