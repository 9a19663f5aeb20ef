import { compressorNamed, type TestedCompressor } from '../probe/compressors.ts'
import { DIGEST_FNS } from '../probe/digest-functions.ts'
import { invalidArgument, type StoreKey, storeKey } from './store.ts'

export interface ResourceName {
  readonly key: StoreKey
  /** Undefined for uncompressed bytes. */
  readonly compressor: TestedCompressor | undefined
}

const DOWNLOAD = /^(?:.+\/)?(blobs|compressed-blobs\/([^/]+))\/(?:([^/]+)\/)?([^/]+)\/([^/]+)$/
const UPLOAD =
  /^(?:.+\/)?uploads\/[^/]+\/(blobs|compressed-blobs\/([^/]+))\/(?:([a-z0-9]*[g-z][a-z0-9]*)\/)?([^/]+)\/([^/]+)(?:\/.*)?$/

export const downloadOf = (name: string): ResourceName => partsOf(DOWNLOAD, name)
export const uploadOf = (name: string): ResourceName => partsOf(UPLOAD, name)

function partsOf(shape: RegExp, name: string): ResourceName {
  const parts = shape.exec(name)
  if (parts === null) throw invalidArgument(`${name} is no resource name`)
  const [, , packed, segment, hash = '', size = ''] = parts
  if (!/^\d+$/.test(size)) throw invalidArgument(`${size} is no size`)
  const fn = segment === undefined ? undefined : DIGEST_FNS.find((each) => each.segment === `${segment}/`)
  if (segment !== undefined && fn === undefined) throw invalidArgument(`${segment} has no place in a name`)
  const compressor = packed === undefined ? undefined : compressorNamed(packed)
  if (packed !== undefined && compressor === undefined) throw invalidArgument(`${packed} is no compressor`)
  return { key: storeKey({ hash, sizeBytes: Number(size) }, fn?.number), compressor }
}
