import { DIGEST_FUNCTIONS, type DigestFunction } from '../../../base/digest.ts'
import type { UnaryMethod } from '../../../grpc/service.ts'
import type { ExecutionCapabilities } from '../../../model/capabilities.ts'
import type { InstanceName } from '../../../model/instance-name.ts'
import type { ReapiLimits } from '../../../services/instances/cache-limits.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import { NODE_PROPERTIES } from '../../../wire/reapi/action.ts'
import { capabilitiesRequestFromProto, capabilitiesToProto } from '../../../wire/reapi/capabilities.ts'
import { FAST_CDC, REP_MAX_CDC } from './chunks.ts'

/** Whether actions are run for an instance. */
export type Executes = (instance: InstanceName) => boolean

/**
 * The capabilities of this server. Clients rely on them, and some refuse a server that claims too much. Without
 * `executes` the server has no execution.
 */
export const getCapabilities = (instances: Instances, limits: ReapiLimits, executes?: Executes): UnaryMethod => ({
  kind: 'unary',
  handle(bytes) {
    const instance = capabilitiesRequestFromProto(bytes)
    const { unnamedFunction, mayUpdateActions = true } = instances(instance)
    const digestFunctions = [unnamedFunction, ...FUNCTIONS.filter((fn) => isAdvertised(fn, unnamedFunction))]
    return capabilitiesToProto({
      cache: {
        digestFunctions,
        updateEnabled: mayUpdateActions,
        priorities: [{ min: 0, max: 0 }],
        maxBatchBytes: limits.maxBatchBytes,
        maxBlobBytes: limits.maxBlobBytes,
        absoluteSymlinks: 'allowed',
        compressors: ['zstd', 'deflate', 'brotli'],
        batchUpdateCompressors: ['zstd', 'deflate', 'brotli'],
        splitBlob: true,
        spliceBlob: true,
        fastCdc: FAST_CDC,
        repMaxCdc: REP_MAX_CDC,
      },
      execution: executes && executionOffer(executes(instance), digestFunctions),
      // Every Bazel up to 7 refuses a server whose lowest version is above 2.0.
      lowApiVersion: { major: 2, minor: 0 },
      highApiVersion: { major: 2, minor: 12 },
      deprecatedApiVersion: undefined,
    })
  },
})

/** The priorities of the scheduler. Without a range, clients refuse every priority but 0. */
const PRIORITIES = [{ min: -100, max: 100 }]

const executionOffer = (enabled: boolean, digestFunctions: readonly DigestFunction[]): ExecutionCapabilities => ({
  enabled,
  digestFunctions,
  priorities: PRIORITIES,
  nodeProperties: NODE_PROPERTIES,
})

const FUNCTIONS = Object.keys(DIGEST_FUNCTIONS) as DigestFunction[]

/**
 * A bare SHA-256 hash is recognised by its length. If that length stands for another function, clients cannot use
 * SHA-256.
 */
const isAdvertised = (fn: DigestFunction, unnamed: DigestFunction): boolean =>
  fn !== unnamed && (fn !== 'sha256' || DIGEST_FUNCTIONS[unnamed].hashBytes !== DIGEST_FUNCTIONS.sha256.hashBytes)
