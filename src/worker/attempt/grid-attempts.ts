import { digestOf } from '../../base/hashing/hash-of.ts'
import { usageToAuxiliary } from '../../wire/tasks/command-task-result.ts'
import { cachingStages } from './stage-cache.ts'

/**
 * The parts of a pipeline that load the wire messages and the hash functions of the Remote Execution API. A workflow
 * that runs without a server does not load them, and starts faster.
 */
export const gridAttempts = { cachingStages, digestOf, usageMessage: usageToAuxiliary }
