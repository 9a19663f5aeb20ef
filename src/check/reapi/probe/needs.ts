import type { CacheCapabilities } from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { isRealLimit } from '../../../wire/messages/within-count.ts'
import type { ServerOffer } from './offer.ts'

interface Terms {
  /** The requirement in words; follows "needs". */
  readonly text: string
  readonly isMet: (cache: CacheCapabilities, offer: ServerOffer) => boolean
  /** A feature of an API version later than 2.0: a server that advertises it supports that version. */
  readonly isLater?: true
}

const compressor = (name: string, number: number): Terms => ({
  text: `the compressor ${name}`,
  isMet: (cache) => cache.supportedCompressors.some((each) => each === number),
})

const batchCompressor = (name: string, number: number): Terms => ({
  text: `the compressor ${name} in batches`,
  isMet: (cache) => cache.supportedBatchUpdateCompressors.some((each) => each === number),
})

const digestFunction = (name: string, number: number): Terms => ({
  ...(number > 7 ? { isLater: true } : {}),
  text: `the digest function ${name}`,
  isMet: (cache) => cache.digestFunctions.some((each) => each === number),
})

const isPacking = (compressor: number): boolean => compressor > 0
const updates = (cache: CacheCapabilities): boolean => cache.actionCacheUpdateCapabilities?.updateEnabled === true

/** Servers use the name of the field or its JSON name. */
const nodeProperty = (name: string): Terms => ({
  text: `the node property ${name}`,
  isMet: (_, { execution }) =>
    execution?.supportedNodeProperties.some((each) => each.toLowerCase().replace('_', '') === name.replace('_', '')) ===
    true,
})

/** Requirements of behaviours. If the server does not advertise one, the behaviour is not offered. */
const TERMS = {
  compressor: { text: 'a compressor', isMet: (cache) => cache.supportedCompressors.some(isPacking) },
  zstd: compressor('zstd', 1),
  deflate: compressor('deflate', 2),
  brotli: compressor('brotli', 3),
  'batch-compressor': {
    text: 'a compressor in batches',
    isMet: (cache) => cache.supportedBatchUpdateCompressors.some(isPacking),
  },
  'batch-zstd': batchCompressor('zstd', 1),
  'batch-deflate': batchCompressor('deflate', 2),
  'batch-brotli': batchCompressor('brotli', 3),
  sha256: digestFunction('SHA256', 1),
  sha1: digestFunction('SHA1', 2),
  md5: digestFunction('MD5', 3),
  sha384: digestFunction('SHA384', 5),
  sha512: digestFunction('SHA512', 6),
  sha256tree: digestFunction('SHA256TREE', 8),
  blake3: digestFunction('BLAKE3', 9),
  gitsha1: digestFunction('GITSHA1', 10),
  'same-length-functions': {
    text: 'two digest functions with hashes of one length',
    isMet: (_, { functions }) => new Set(functions.map(({ hexLength }) => hexLength)).size < functions.length,
  },
  'batch-limit': { text: 'a limit for batches', isMet: (cache) => cache.maxBatchTotalSizeBytes > 0 },
  'blob-limit': { text: 'a limit for blobs', isLater: true, isMet: (cache) => isRealLimit(cache.maxCasBlobSizeBytes) },
  update: { text: 'updates of the action cache', isMet: updates },
  'read-only': { text: 'no updates of the action cache', isMet: (cache) => !updates(cache) },
  split: { text: 'SplitBlob', isLater: true, isMet: (cache) => cache.splitBlobSupport },
  splice: { text: 'SpliceBlob', isLater: true, isMet: (cache) => cache.spliceBlobSupport },
  'no-split': { text: 'no SplitBlob', isMet: (cache) => !cache.splitBlobSupport },
  'no-splice': { text: 'no SpliceBlob', isMet: (cache) => !cache.spliceBlobSupport },
  'fast-cdc': { text: 'FastCDC 2020', isLater: true, isMet: (cache) => cache.fastCdc2020Params !== undefined },
  'rep-max-cdc': { text: 'RepMaxCDC', isLater: true, isMet: (cache) => cache.repMaxCdcParams !== undefined },
  exec: { text: 'execution', isMet: (_, { execution }) => execution !== undefined },
  'version-2-0': {
    text: 'version 2.0 of the API',
    isMet: (_, { capabilities: { lowApiVersion } }) => lowApiVersion?.major === 2 && lowApiVersion.minor === 0,
  },
  worker: {
    text: 'a worker that runs commands',
    isMet: (_, { execution, idle }) => execution !== undefined && idle === undefined,
  },
  'exec-priorities': {
    text: 'a range of execution priorities',
    isMet: (_, { execution }) => (execution?.executionPriorityCapabilities?.priorities.length ?? 0) > 0,
  },
  'node-mtime': nodeProperty('mtime'),
  'node-unix-mode': nodeProperty('unix_mode'),
  'slashed-instance': { text: 'an instance name with a slash', isMet: (_, { instance }) => instance.includes('/') },
} satisfies Record<string, Terms>

export type Need = keyof typeof TERMS

export const impliesVersion = (need: Need): boolean => (TERMS[need] as Terms).isLater === true

export const needText = (need: Need): string => TERMS[need].text

export const isMet = (need: Need, offer: ServerOffer): boolean => (TERMS[need] as Terms).isMet(offer.cache, offer)
