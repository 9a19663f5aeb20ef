import { type Digest, type DigestFunction, digestFunctionByHexLength } from '../../base/digest.ts'
import { isHash, parseSize } from '../../base/digest-text.ts'
import { type FaultError, invalid } from '../../base/fault.ts'
import type { Compressor } from '../../model/compressor.ts'
import { type InstanceName, instanceNameProblem, RESERVED_SEGMENTS } from '../../model/instance-name.ts'
import { sha256Unnamed, type UnnamedFunction } from '../digests/digest.ts'

/**
 * The ByteStream names of blobs:
 *   to read    [instance/]blobs/[function/]hash/size   or   [instance/]compressed-blobs/compressor/[function/]hash/size
 *   to write   [instance/]uploads/id/ and the same, then anything at all
 * An instance name may contain slashes, so it ends before the first segment that no instance may have. Some clients also
 * write the slash after an empty instance name: one leading slash is ignored.
 */
export interface BlobName {
  readonly instance: InstanceName
  readonly digest: Digest
  readonly compressor: Compressor
}

export interface UploadName extends BlobName {
  /** Chosen by the client for each upload; a resumed upload is found by it. */
  readonly uploadId: string
}

/** Returns the ByteStream name without an instance. The error for a missing blob uses it as subject. */
export const blobName = ({ fn, hash, size }: Digest): string => `blobs/${NAMED.has(fn) ? `${fn}/` : ''}${hash}/${size}`

export function formatReadName({ instance, digest, compressor }: BlobName): string {
  const name =
    compressor === 'identity' ? blobName(digest) : blobName(digest).replace('blobs/', `compressed-blobs/${compressor}/`)
  return instance === '' ? name : `${instance}/${name}`
}

export function formatWriteName(name: UploadName): string {
  const blob = formatReadName({ ...name, instance: '' })
  return `${name.instance === '' ? '' : `${name.instance}/`}uploads/${name.uploadId}/${blob}`
}

export function parseReadName(name: string, unnamed: UnnamedFunction = sha256Unnamed): BlobName {
  const parts = opened(name)
  if (parts.keyword === 'uploads') throw parts.wrong('is for writing, not for reading')
  const blob = blobAt(parts, parts.at, unnamed)
  if (parts.segments.length > blob.end) throw parts.wrong('has more text after the size')
  return { instance: parts.instance, digest: blob.digest, compressor: blob.compressor }
}

export function parseWriteName(name: string, unnamed: UnnamedFunction = sha256Unnamed): UploadName {
  const parts = opened(name)
  if (parts.keyword !== 'uploads') throw parts.wrong('is not for writing: it has no uploads/ and an id')
  const uploadId = parts.segments[parts.at + 1] ?? ''
  if (uploadId === '' || DOTS.has(uploadId)) throw parts.wrong('has no id after uploads/')
  const { digest, compressor } = blobAt(parts, parts.at + 2, unnamed)
  return { instance: parts.instance, uploadId, digest, compressor }
}

/** Functions that a name must contain; the others are determined by the length of the hash and must not be named. */
const NAMED: ReadonlySet<string> = new Set(['sha256tree', 'blake3'] satisfies DigestFunction[])
const NEVER_NAMED: ReadonlySet<string> = new Set(['sha256', 'sha1', 'md5', 'sha384', 'sha512', 'vso', 'murmur3'])
const PACKED: ReadonlySet<string> = new Set(['zstd', 'deflate', 'brotli'] satisfies Compressor[])
const DOTS: ReadonlySet<string> = new Set(['.', '..'])

interface Opened {
  readonly segments: readonly string[]
  /** Where the first keyword is. */
  readonly at: number
  readonly keyword: string
  readonly instance: InstanceName
  wrong(what: string): FaultError
}

function opened(name: string): Opened {
  const wrong = (what: string) => invalid(`resource name "${shortened(name)}" ${what}`)
  const segments = name.split('/')
  const at = segments.findIndex((segment) => RESERVED_SEGMENTS.has(segment))
  const keyword = segments[at]
  if (keyword === undefined) throw wrong('has neither blobs/ nor uploads/')
  const instance = segments.slice(0, at).join('/')
  const problem = instanceNameProblem(instance)
  if (problem !== undefined) throw wrong(`has an instance name that ${problem}`)
  return { segments, at, keyword, instance, wrong }
}

interface BlobPart {
  readonly digest: Digest
  readonly compressor: Compressor
  /** The segment after the last one. */
  readonly end: number
}

function blobAt({ segments, instance, wrong }: Opened, from: number, unnamed: UnnamedFunction): BlobPart {
  let at = from
  const keyword = segments[at++]
  let compressor: Compressor = 'identity'
  if (keyword === 'compressed-blobs') {
    const named = segments[at++] ?? ''
    if (!isPacked(named)) throw wrong(`names the compressor "${shortened(named)}", not zstd, deflate or brotli`)
    compressor = named
  } else if (keyword !== 'blobs') throw wrong(`has "${shortened(keyword ?? '')}" where blobs/ should be`)
  const segment = segments[at] ?? ''
  if (NEVER_NAMED.has(segment)) throw wrong(`names the digest function ${segment}, which must not be named`)
  const named = isNamed(segment) ? segment : undefined
  if (named !== undefined) at++
  const hash = segments[at++] ?? ''
  const fn = named ?? digestFunctionByHexLength(hash.length, unnamed(instance))
  if (fn === undefined) throw wrong(`has a hash of ${hash.length} digits, which fits no digest function`)
  if (!isHash(fn, hash)) throw wrong(`has a hash that is not lower-case hex as ${fn} makes it`)
  const size = parseSize(segments[at++] ?? '')
  if (size === undefined) throw wrong('has no valid size after the hash')
  return { digest: { fn, hash, size }, compressor, end: at }
}

const isNamed = (text: string): text is DigestFunction => NAMED.has(text)
const isPacked = (text: string): text is Compressor => PACKED.has(text)

/** Shortens a name for the log, because a client can send a name of any length. */
const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
