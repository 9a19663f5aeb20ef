import type { Clock } from '../../../base/clock.ts'
import type { Service } from '../../../grpc/service.ts'
import { DEFAULT_REAPI_LIMITS, type ReapiLimits } from '../../../services/instances/cache-limits.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { LogStreams } from '../logs/door.ts'
import { makingRoomForEcho, remakingForRoom } from '../make-room.ts'
import { reportingFaults } from '../report-faults.ts'
import { getActionResult, updateActionResult } from './action-results.ts'
import { byteStreamRead } from './byte-stream-read.ts'
import { byteStreamWrite, queryWriteStatus } from './byte-stream-write.ts'
import { type Executes, getCapabilities } from './capabilities.ts'
import { splitAndSplice } from './chunks.ts'
import { batchReadBlobs, batchUpdateBlobs, findMissingBlobs } from './content.ts'
import { getTree } from './tree.ts'
import { pausedUploads } from './uploads.ts'

export interface ReapiDoorOptions {
  readonly instances: Instances
  readonly clock: Clock
  readonly limits?: ReapiLimits
  /** Whether actions are run for an instance; left out where none are. */
  readonly executes?: Executes
  /** Logs that ByteStream also serves; undefined without execution. */
  readonly logs?: LogStreams | undefined
}

const REAPI = 'build.bazel.remote.execution.v2'

/** The cache services of the Remote Execution API. */
export function reapiDoor(options: ReapiDoorOptions): Service[] {
  const { instances, clock, limits = DEFAULT_REAPI_LIMITS, executes, logs } = options
  const writing = { instances, limits, paused: pausedUploads(clock), logs }
  const services: Service[] = [
    { name: `${REAPI}.Capabilities`, methods: { GetCapabilities: getCapabilities(instances, limits, executes) } },
    {
      name: `${REAPI}.ContentAddressableStorage`,
      methods: {
        FindMissingBlobs: findMissingBlobs(instances),
        BatchUpdateBlobs: batchUpdateBlobs(instances, limits),
        BatchReadBlobs: batchReadBlobs(instances, limits),
        GetTree: getTree(instances),
        ...splitAndSplice(instances),
      },
    },
    {
      name: `${REAPI}.ActionCache`,
      methods: {
        GetActionResult: remakingForRoom(getActionResult(instances)),
        UpdateActionResult: makingRoomForEcho(updateActionResult(instances)),
      },
    },
    {
      name: 'google.bytestream.ByteStream',
      methods: {
        Read: byteStreamRead(instances, logs),
        Write: byteStreamWrite(writing),
        QueryWriteStatus: queryWriteStatus(writing),
      },
    },
  ]
  return services.map(reportingFaults)
}
