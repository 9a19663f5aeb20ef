import { STATUS } from '../../../grpc/status.ts'
import type {
  CacheCapabilities,
  Compressor_Value,
  DigestFunction_Value,
  ExecutionCapabilities,
  ServerCapabilities,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { BehaviourId } from '../table/behaviours.ts'
import { after, type Break, fail, when, whenOpened } from './break.ts'
import { honestTrees } from './honest-trees.ts'
import { EVERYTHING } from './profile.ts'

const METADATA = 'build.bazel.remote.execution.v2.requestmetadata-bin'
const always = (): boolean => true

const claims = (change: Partial<ServerCapabilities>): Break =>
  after('getCapabilities', (answer) => ({ ...answer, ...change }))

const cacheClaims = (change: (cache: CacheCapabilities) => Partial<CacheCapabilities>): Break =>
  after('getCapabilities', (answer) => {
    const cache = answer.cacheCapabilities as CacheCapabilities
    return { ...answer, cacheCapabilities: { ...cache, ...change(cache) } }
  })

const execClaims = (change: Partial<ExecutionCapabilities>): Break =>
  after('getCapabilities', (answer) => ({
    ...answer,
    executionCapabilities: { ...(answer.executionCapabilities as ExecutionCapabilities), ...change },
  }))

const version = (major: number, minor: number) => ({ major, minor, patch: 0, prerelease: '' })
const reversed = { priorities: [{ minPriority: 5, maxPriority: -5 }] }

/** The first GetCapabilities call of the suite is still answered correctly. */
const answersOnce: Break = ({ methods }) => {
  let count = 0
  return { getCapabilities: (request, call) => (count++ === 0 ? methods.getCapabilities(request, call) : fail(13)()) }
}

const changesItsMind: Break = ({ methods }) => {
  let count = 0
  return {
    getCapabilities(request, call) {
      const answer = methods.getCapabilities(request, call)
      const cache = answer.cacheCapabilities as CacheCapabilities
      return { ...answer, cacheCapabilities: { ...cache, maxBatchTotalSizeBytes: 100_000 + count++ } }
    },
  }
}

export const capabilitiesBreaks = {
  'capabilities.answers': answersOnce,
  'capabilities.cache': claims({ cacheCapabilities: undefined }),
  'capabilities.versions-given': claims({ lowApiVersion: undefined }),
  'capabilities.versions-ordered': claims({ lowApiVersion: version(2, 12), highApiVersion: version(2, 0) }),
  'capabilities.versions-include-2': claims({ lowApiVersion: version(3, 0), highApiVersion: version(3, 1) }),
  'capabilities.low-version-2-0': claims({ lowApiVersion: version(2, 1) }),
  'capabilities.stable': changesItsMind,
  'capabilities.digest-functions-given': cacheClaims(() => ({ digestFunctions: [] })),
  'capabilities.digest-functions-known': cacheClaims(({ digestFunctions }) => ({
    digestFunctions: [...digestFunctions, 99 as DigestFunction_Value],
  })),
  'capabilities.digest-functions-once': cacheClaims(({ digestFunctions }) => ({
    digestFunctions: [...digestFunctions, 1],
  })),
  'capabilities.digest-functions-work': when(
    'batchUpdateBlobs',
    ({ digestFunction }) => digestFunction === 2,
    fail(STATUS.invalidArgument),
  ),
  'capabilities.batch-limit-given': cacheClaims(() => ({ maxBatchTotalSizeBytes: 0 })),
  'capabilities.batch-limit-fits': cacheClaims(() => ({ maxBatchTotalSizeBytes: 8 * 1024 * 1024 })),
  'capabilities.limits-not-negative': cacheClaims(() => ({ maxCasBlobSizeBytes: -1 })),
  'capabilities.symlinks-given': cacheClaims(() => ({ symlinkAbsolutePathStrategy: 0 })),
  'capabilities.compressors-known': cacheClaims(() => ({ supportedCompressors: [1, 9 as Compressor_Value] })),
  'capabilities.compressors-work': whenOpened(
    ({ resourceName }) => resourceName.includes('/brotli/'),
    fail(STATUS.invalidArgument),
  ),
  'capabilities.batch-compressors-known': cacheClaims(() => ({
    supportedBatchUpdateCompressors: [1, 9 as Compressor_Value],
  })),
  'capabilities.batch-compressors-work': when(
    'batchUpdateBlobs',
    ({ requests }) => requests.some(({ compressor }) => compressor === 3),
    fail(STATUS.invalidArgument),
  ),
  'capabilities.update-works': when('updateActionResult', always, fail(STATUS.unimplemented)),
  'capabilities.split-works': when('splitBlob', always, fail(STATUS.unimplemented)),
  'capabilities.splice-works': when('spliceBlob', always, fail(STATUS.unimplemented)),
  'capabilities.split-declared': ({ store }) => ({ splitBlob: honestTrees(store, EVERYTHING).splitBlob }),
  'capabilities.splice-declared': ({ store }) => ({ spliceBlob: honestTrees(store, EVERYTHING).spliceBlob }),
  'capabilities.fast-cdc-range': cacheClaims(() => ({ fastCdc2020Params: { avgChunkSizeBytes: 100, seed: 0 } })),
  'capabilities.rep-max-cdc-range': cacheClaims(() => ({
    repMaxCdcParams: { minChunkSizeBytes: 10, horizonSizeBytes: 80 },
  })),
  'capabilities.cache-priorities-ordered': cacheClaims(() => ({ cachePriorityCapabilities: reversed })),
  'capabilities.exec-priorities-ordered': execClaims({ executionPriorityCapabilities: reversed }),
  'capabilities.exec-priorities-given': execClaims({ executionPriorityCapabilities: undefined }),
  'capabilities.exec-priorities-default': execClaims({
    executionPriorityCapabilities: { priorities: [{ minPriority: 1, maxPriority: 5 }] },
  }),
  'capabilities.exec-function-given': execClaims({ digestFunction: 0 }),
  'capabilities.exec-functions-include': execClaims({ digestFunctions: [2] }),
  'capabilities.exec-functions-stored': execClaims({ digestFunctions: [1, 4] }),
  'capabilities.unknown-fields-ignored': () => ({ below: { refusesUnknownFields: true } }),
  'capabilities.garbage-refused': () => ({ below: { decodesAnything: true } }),
  'capabilities.garbage-metadata-tolerated': ({ methods }) => ({
    getCapabilities(request, call) {
      if (call.metadata.getBinary(METADATA).length > 0) fail(STATUS.invalidArgument)()
      return methods.getCapabilities(request, call)
    },
  }),
} satisfies Partial<Record<BehaviourId, Break>>
