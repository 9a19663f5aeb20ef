import { z } from 'zod'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../../base/digest.ts'
import { configField } from './field.ts'
import { upstream } from './upstream.ts'

const GiB = 1024 ** 3
const MiB = 1024 ** 2
const FUNCTIONS = Object.keys(DIGEST_FUNCTIONS) as [DigestFunction, ...DigestFunction[]]

const folder = () => z.string().min(1).optional()

const cas = z
  .strictObject({
    backend: configField(
      z.enum(['filesystem', 'grpc']).default('filesystem'),
      'Storage of blobs and action results: pack files on a local disk, or only the upstream server (grpc).',
    ),
    root_dir: configField(folder(), 'Directory for blobs and action results.', {
      otherwise: 'cas in data_dir',
      holdsPath: true,
    }),
    max_bytes: configField(
      z
        .int()
        .min(64 * MiB)
        .default(32 * GiB),
      'Maximum disk space for blobs in bytes. Above it, the least recently used blobs are evicted.',
    ),
    min_free_bytes: configField(
      z
        .int()
        .min(0)
        .default(64 * MiB),
      'Bytes of disk that stay free for the journal and logs, at most 1/8 of the file system. 0: none.',
    ),
    pack_bytes: configField(
      z
        .int()
        .min(MiB)
        .max(16 * GiB)
        .default(256 * MiB),
      'Size of one pack file in bytes. Eviction frees disk space in whole pack files.',
    ),
    durability: configField(
      z.enum(['process', 'power']).default('process'),
      'What an acknowledged upload survives: process (a crash of the server) or power (a power failure; needs fsync).',
    ),
    verify_reads: configField(
      z.enum(['first', 'always']).default('first'),
      'When checksums are verified: at the first read of a blob after a server start, or at every read.',
    ),
    scrub_bytes_per_second: configField(
      z
        .int()
        .min(0)
        .default(8 * MiB),
      'Bytes per second that the server continuously reads to find corrupt blobs on disk. 0: no such reads.',
    ),
  })
  .prefault({})

const actionCache = z
  .strictObject({
    backend: configField(
      z.enum(['filesystem']).default('filesystem'),
      'Storage of action results: the same as for blobs.',
    ),
    root_dir: configField(folder(), 'Separate directory for action results.', {
      otherwise: 'the directory of the blobs',
      holdsPath: true,
    }),
    max_bytes: configField(
      z
        .int()
        .min(64 * MiB)
        .default(2 * GiB),
      'Maximum disk space for action results in root_dir, in bytes. Above it, the least recently used are evicted.',
    ),
    read_only_instances: configField(
      z.array(z.string()).default([]),
      'Instances whose clients can read action results but not write them; "" is the instance without a name.',
    ),
  })
  .prefault({})

export const storage = z
  .strictObject({
    cas,
    action_cache: actionCache,
    upstream,
    spaces: configField(
      z.record(z.string(), z.int().min(0).max(254)).default({}),
      'Instances with separate blobs, each with the number of its space. All other instances share space 0.',
    ),
    digest_functions: configField(
      z.record(z.string(), z.enum(FUNCTIONS)).default({}),
      'Digest function for requests that name none, by instance, such as "blake3". All other instances use sha256.',
    ),
  })
  .prefault({})
  .superRefine(({ cas, upstream }, context) => {
    if (cas.backend !== 'grpc' || upstream.url !== undefined) return
    context.addIssue({ code: 'custom', path: ['cas', 'backend'], message: '"grpc" needs url under [storage.upstream]' })
  })
