import { STATUS } from '../../../grpc/status.ts'
import type {
  PriorityCapabilities,
  ServerCapabilities,
} from '../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import type { SemVer } from '../../../wire/gen/build/bazel/semver/semver.ts'
import { ensure, expectRefusal, Unmet } from '../../unmet.ts'
import type { Check, Probe } from '../probe/probe.ts'
import { RPC } from '../probe/rpcs.ts'
import type { BehaviourId } from '../table/behaviours.ts'

const MiB = 1024 * 1024
const LAST_DIGEST_FUNCTION = 10
const LAST_COMPRESSOR = 3

const listed = (values: readonly (number | string)[]): string => (values.length === 0 ? 'none' : values.join(', '))

const spelled = (version: SemVer | undefined): string =>
  version === undefined ? 'no version' : `${version.major}.${version.minor}.${version.patch}`

const isAbove = (one: SemVer, other: SemVer): boolean =>
  one.major !== other.major ? one.major > other.major : one.minor > other.minor

function versionsOf({ lowApiVersion, highApiVersion }: ServerCapabilities) {
  if (lowApiVersion === undefined || highApiVersion === undefined) {
    throw new Unmet('a lowest and a highest version', `${spelled(lowApiVersion)} to ${spelled(highApiVersion)}`)
  }
  return { low: lowApiVersion, high: highApiVersion }
}

function ordered(priorities: PriorityCapabilities | undefined): void {
  for (const { minPriority, maxPriority } of priorities?.priorities ?? []) {
    ensure(minPriority <= maxPriority, 'the minimum first', `from ${minPriority} to ${maxPriority}`)
  }
}

function known(numbers: readonly number[], first: number, last: number): void {
  const strange = numbers.filter((each) => each < first || each > last)
  ensure(strange.length === 0, `numbers from ${first} to ${last}`, listed(strange))
}

const requestBytes = ({ offer }: Probe): Uint8Array => RPC.getCapabilities.encode({ instanceName: offer.instance })

export const capabilitiesChecks = {
  async 'capabilities.answers'({ api }) {
    await api.capabilities()
  },
  async 'capabilities.cache'({ api }) {
    const { cacheCapabilities } = await api.capabilities()
    ensure(cacheCapabilities !== undefined, 'cache_capabilities', 'none')
  },
  async 'capabilities.versions-given'({ api }) {
    versionsOf(await api.capabilities())
  },
  async 'capabilities.versions-ordered'({ api }) {
    const { low, high } = versionsOf(await api.capabilities())
    ensure(!isAbove(low, high), 'the lowest version first', `${spelled(low)} to ${spelled(high)}`)
  },
  async 'capabilities.versions-include-2'({ api }) {
    const { low, high } = versionsOf(await api.capabilities())
    ensure(low.major <= 2 && high.major >= 2, 'a range around 2.x', `${spelled(low)} to ${spelled(high)}`)
  },
  async 'capabilities.low-version-2-0'({ api }) {
    const { low } = versionsOf(await api.capabilities())
    ensure(low.major === 2 && low.minor === 0, 'low_api_version 2.0', spelled(low))
  },
  async 'capabilities.stable'({ api }) {
    const [one, other] = [await api.capabilities(), await api.capabilities()]
    const isSame = Buffer.from(JSON.stringify(one)).equals(Buffer.from(JSON.stringify(other)))
    ensure(isSame, 'the same answer twice', `${JSON.stringify(one)} and then ${JSON.stringify(other)}`)
  },
  async 'capabilities.digest-functions-given'({ offer }) {
    ensure(offer.cache.digestFunctions.length > 0, 'a digest function', 'none')
  },
  async 'capabilities.digest-functions-known'({ offer }) {
    known(offer.cache.digestFunctions, 1, LAST_DIGEST_FUNCTION)
  },
  async 'capabilities.digest-functions-once'({ offer }) {
    const { digestFunctions } = offer.cache
    ensure(new Set(digestFunctions).size === digestFunctions.length, 'each once', listed(digestFunctions))
  },
  async 'capabilities.batch-limit-given'({ offer }) {
    ensure(offer.cache.maxBatchTotalSizeBytes !== 0, 'a limit', '0')
  },
  async 'capabilities.batch-limit-fits'({ offer }) {
    const { maxBatchTotalSizeBytes } = offer.cache
    ensure(maxBatchTotalSizeBytes < 4 * MiB, `less than ${4 * MiB}`, `${maxBatchTotalSizeBytes}`)
  },
  async 'capabilities.limits-not-negative'({ offer }) {
    const { maxBatchTotalSizeBytes, maxCasBlobSizeBytes } = offer.cache
    const negative = [maxBatchTotalSizeBytes, maxCasBlobSizeBytes].filter((limit) => limit < 0)
    ensure(negative.length === 0, 'limits of 0 or more', listed(negative))
  },
  async 'capabilities.symlinks-given'({ offer }) {
    const { symlinkAbsolutePathStrategy } = offer.cache
    const isKnown = symlinkAbsolutePathStrategy === 1 || symlinkAbsolutePathStrategy === 2
    ensure(isKnown, 'DISALLOWED (1) or ALLOWED (2)', `${symlinkAbsolutePathStrategy}`)
  },
  async 'capabilities.compressors-known'({ offer }) {
    known(offer.cache.supportedCompressors, 0, LAST_COMPRESSOR)
  },
  async 'capabilities.batch-compressors-known'({ offer }) {
    known(offer.cache.supportedBatchUpdateCompressors, 0, LAST_COMPRESSOR)
  },
  async 'capabilities.fast-cdc-range'({ offer }) {
    const average = offer.cache.fastCdc2020Params?.avgChunkSizeBytes ?? 0
    ensure(average >= 1024 && average <= MiB, `1024 to ${MiB}`, `${average}`)
  },
  async 'capabilities.rep-max-cdc-range'({ offer }) {
    const smallest = offer.cache.repMaxCdcParams?.minChunkSizeBytes ?? 0
    ensure(smallest >= 64, '64 or more', `${smallest}`)
  },
  async 'capabilities.cache-priorities-ordered'({ offer }) {
    ordered(offer.cache.cachePriorityCapabilities)
  },
  async 'capabilities.exec-priorities-ordered'({ offer }) {
    ordered(offer.execution?.executionPriorityCapabilities)
  },
  async 'capabilities.exec-priorities-given'({ offer }) {
    const ranges = offer.execution?.executionPriorityCapabilities?.priorities ?? []
    ensure(ranges.length > 0, 'a range', 'none')
  },
  async 'capabilities.exec-priorities-default'({ offer }) {
    const ranges = offer.execution?.executionPriorityCapabilities?.priorities ?? []
    const spelledOut = ranges.map(({ minPriority, maxPriority }) => `${minPriority} to ${maxPriority}`)
    const isIn = ranges.some(({ minPriority, maxPriority }) => minPriority <= 0 && maxPriority >= 0)
    ensure(isIn, 'a range with 0', listed(spelledOut))
  },
  async 'capabilities.exec-function-given'({ offer }) {
    ensure((offer.execution?.digestFunction ?? 0) > 0, 'a digest function', 'UNKNOWN')
  },
  async 'capabilities.exec-functions-include'({ offer }) {
    const { digestFunction = 0, digestFunctions = [] } = offer.execution ?? {}
    const isFine = digestFunctions.length === 0 || digestFunctions.includes(digestFunction)
    ensure(isFine, `a list with ${digestFunction}`, listed(digestFunctions))
  },
  async 'capabilities.exec-functions-stored'({ offer }) {
    const { digestFunction = 0, digestFunctions = [] } = offer.execution ?? {}
    const wanted = new Set([digestFunction, ...digestFunctions])
    const absent = [...wanted].filter((each) => each > 0 && !offer.cache.digestFunctions.includes(each))
    ensure(absent.length === 0, 'every function of execution in the cache', `without ${listed(absent)}`)
  },
  async 'capabilities.unknown-fields-ignored'(probe) {
    // Field 1000 as text: a later version of the API could have it.
    const request = Buffer.concat([requestBytes(probe), Buffer.from([0xc2, 0x3e, 3, 0x6e, 0x65, 0x77])])
    await probe.api.raw(RPC.getCapabilities.path, request)
  },
  async 'capabilities.garbage-refused'({ api }) {
    const garbage = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
    const codes = [STATUS.invalidArgument, STATUS.internal, STATUS.unknown, STATUS.unimplemented]
    await expectRefusal('a request that is not a protobuf message', codes, api.raw(RPC.getCapabilities.path, garbage))
  },
  async 'capabilities.garbage-metadata-tolerated'({ api, random }) {
    const garbage = Buffer.from([0xff, 0xff, ...random.bytes(32)])
    await api.capabilities({ metadata: { 'build.bazel.remote.execution.v2.requestmetadata-bin': garbage } })
  },
} satisfies Partial<Record<BehaviourId, Check>>
