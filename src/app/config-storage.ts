import { z } from 'zod'
import { DIGEST_FUNCTIONS, type DigestFunction } from '../base/digest.ts'
import { field, later } from './config-field.ts'

const GiB = 1024 ** 3
const MiB = 1024 ** 2
const FUNCTIONS = Object.keys(DIGEST_FUNCTIONS) as [DigestFunction, ...DigestFunction[]]

const backend = () => z.enum(['filesystem']).default('filesystem')
const folder = () => z.string().min(1).optional()

const cas = z
  .strictObject({
    backend: field(backend(), 'Where blobs are kept: pack files on a local disk.'),
    root_dir: field(folder(), 'Directory for blobs, and for results of actions.', { otherwise: 'cas in data_dir' }),
    max_bytes: field(
      z
        .int()
        .min(64 * MiB)
        .default(32 * GiB),
      'How much disk blobs may take; past it, what was not asked for the longest goes.',
    ),
    pack_bytes: field(
      z
        .int()
        .min(MiB)
        .max(16 * GiB)
        .default(256 * MiB),
      'The size of one pack file: disk space is given back in such steps.',
    ),
    durability: field(
      z.enum(['process', 'power']).default('process'),
      'What an upload survives once it is acknowledged: the end of the process, or of the power (an fsync each time).',
    ),
    verify_reads: field(
      z.enum(['first', 'always']).default('first'),
      'When checksums are looked at: at the first read after a start, or at every one.',
    ),
    scrub_bytes_per_second: field(
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
    backend: field(backend(), 'Where results of actions are kept: in the same packs as the blobs.'),
    root_dir: later(folder(), 'Directory for results of actions.', { otherwise: 'they are kept with the blobs' }),
  })
  .prefault({})

export const storage = z
  .strictObject({
    cas,
    action_cache: actionCache,
    spaces: field(
      z.record(z.string(), z.int().min(0).max(254)).default({}),
      'Instances whose blobs are kept apart, each with the number of its space; all others share space 0.',
    ),
    digest_functions: field(
      z.record(z.string(), z.enum(FUNCTIONS)).default({}),
      'Instances whose clients use another digest function than sha256 without naming it, such as "blake3".',
    ),
  })
  .prefault({})
