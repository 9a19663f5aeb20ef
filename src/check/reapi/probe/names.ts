import type { Digest } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Random } from '../../random.ts'
import type { DigestFn } from './digest-functions.ts'

export interface NameOptions {
  readonly compressor?: string
  readonly uuid?: string
  readonly fn?: DigestFn
}

/** Resource names of ByteStream. */
export interface Names {
  read(digest: Digest, options?: NameOptions): string
  /** Uses a new upload id by default. */
  write(digest: Digest, options?: NameOptions): string
}

export function namesIn(instance: string, defaultFn: DigestFn, random: Random): Names {
  const prefix = instance === '' ? '' : `${instance}/`
  const rest = ({ hash, sizeBytes }: Digest, { compressor, fn = defaultFn }: NameOptions): string =>
    `${compressor === undefined ? 'blobs' : `compressed-blobs/${compressor}`}/${fn.segment}${hash}/${sizeBytes}`
  return {
    read: (digest, options = {}) => `${prefix}${rest(digest, options)}`,
    write: (digest, options = {}) => `${prefix}uploads/${options.uuid ?? random.uuid()}/${rest(digest, options)}`,
  }
}
