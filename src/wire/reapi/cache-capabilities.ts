import { digestFunctionByNumber } from '../../base/digest.ts'
import type { CacheCapabilities, PriorityRange } from '../../model/capabilities.ts'
import { COMPRESSORS, type Compressor } from '../../model/compressor.ts'
import { digestFunctionNumber } from '../digests/digest.ts'
import * as proto from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { Shape } from '../messages/well-formed.ts'

export const PRIORITIES_SHAPE: Shape = { 1: { 1: 'number', 2: 'number' } }

export const CACHE_SHAPE: Shape = {
  1: 'numbers',
  2: { 1: 'number' },
  3: PRIORITIES_SHAPE,
  4: 'number',
  5: 'number',
  6: 'numbers',
  7: 'numbers',
  8: 'number',
  9: 'number',
  10: 'number',
  11: { 1: 'number', 2: 'number' },
  12: { 1: 'number', 2: 'number' },
}

const Symlinks = proto.SymlinkAbsolutePathStrategy_Value

export const cacheToProto = (cache: CacheCapabilities): proto.CacheCapabilities => ({
  digestFunctions: cache.digestFunctions.map(digestFunctionNumber),
  actionCacheUpdateCapabilities: { updateEnabled: cache.updateEnabled },
  cachePriorityCapabilities: prioritiesToProto(cache.priorities),
  maxBatchTotalSizeBytes: cache.maxBatchBytes,
  symlinkAbsolutePathStrategy: cache.absoluteSymlinks === 'allowed' ? Symlinks.ALLOWED : Symlinks.DISALLOWED,
  supportedCompressors: cache.compressors.map(compressorNumber),
  supportedBatchUpdateCompressors: cache.batchUpdateCompressors.map(compressorNumber),
  maxCasBlobSizeBytes: cache.maxBlobBytes,
  splitBlobSupport: cache.splitBlob,
  spliceBlobSupport: cache.spliceBlob,
  fastCdc2020Params: cache.fastCdc && { avgChunkSizeBytes: cache.fastCdc.averageChunkBytes, seed: cache.fastCdc.seed },
  repMaxCdcParams: cache.repMaxCdc && {
    minChunkSizeBytes: cache.repMaxCdc.minChunkBytes,
    horizonSizeBytes: cache.repMaxCdc.horizonBytes,
  },
})

export const cacheFromProto = (from: proto.CacheCapabilities): CacheCapabilities => ({
  digestFunctions: from.digestFunctions.flatMap((number) => digestFunctionByNumber(number) ?? []),
  updateEnabled: from.actionCacheUpdateCapabilities?.updateEnabled ?? false,
  priorities: prioritiesFromProto(from.cachePriorityCapabilities),
  maxBatchBytes: from.maxBatchTotalSizeBytes,
  maxBlobBytes: from.maxCasBlobSizeBytes,
  absoluteSymlinks: from.symlinkAbsolutePathStrategy === Symlinks.ALLOWED ? 'allowed' : 'disallowed',
  compressors: from.supportedCompressors.flatMap(knownCompressor),
  batchUpdateCompressors: from.supportedBatchUpdateCompressors.flatMap(knownCompressor),
  splitBlob: from.splitBlobSupport,
  spliceBlob: from.spliceBlobSupport,
  fastCdc: from.fastCdc2020Params && {
    averageChunkBytes: from.fastCdc2020Params.avgChunkSizeBytes,
    seed: from.fastCdc2020Params.seed,
  },
  repMaxCdc: from.repMaxCdcParams && {
    minChunkBytes: from.repMaxCdcParams.minChunkSizeBytes,
    horizonBytes: from.repMaxCdcParams.horizonSizeBytes,
  },
})

const compressorNumber = (name: Compressor): proto.Compressor_Value => proto.Compressor_Value[COMPRESSOR_NAMES[name]]

const COMPRESSOR_NAMES = { identity: 'IDENTITY', zstd: 'ZSTD', deflate: 'DEFLATE', brotli: 'BROTLI' } as const

const knownCompressor = (value: proto.Compressor_Value): Compressor[] =>
  COMPRESSORS.filter((_, number) => number === value)

export const prioritiesToProto = (ranges: readonly PriorityRange[]): proto.PriorityCapabilities => ({
  priorities: ranges.map(({ min, max }) => ({ minPriority: min, maxPriority: max })),
})

export const prioritiesFromProto = (from: proto.PriorityCapabilities | undefined): PriorityRange[] =>
  (from?.priorities ?? []).map(({ minPriority, maxPriority }) => ({ min: minPriority, max: maxPriority }))
