import { FaultError } from '../../base/fault.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import { GrpcError } from '../../grpc/status.ts'
import { foundStageFromProto, keptStageToProto, stageQuestionToProto } from '../../wire/workers/stage.ts'
import type { StageResults } from './worker-link.ts'

export interface GrpcStageOptions {
  readonly channel: Channel
  readonly worker: string
  readonly attemptId: string
}

const LINK = '/windlass.worker.v1.WorkerLink'
/** A stage can be run in less time than this: a server that does not answer has no result. */
const CALL_MS = 5000

/** FindStage and KeepStage. A server without them, or out of reach, is `unavailable`: the stage is run. */
export const grpcStageResults = ({ channel, worker, attemptId }: GrpcStageOptions): StageResults => ({
  async get(conditions) {
    const question = stageQuestionToProto({ worker, attemptId, conditions })
    return foundStageFromProto(await call(channel, `${LINK}/FindStage`, question))
  },
  async put(conditions, result) {
    await call(channel, `${LINK}/KeepStage`, keptStageToProto({ worker, attemptId, conditions, result }))
  },
})

async function call(channel: Channel, path: string, message: Uint8Array): Promise<Uint8Array> {
  try {
    return (await channel.unary(path, message, { timeoutMs: CALL_MS })).message
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    throw new FaultError({ kind: 'unavailable', what: `${path} failed: ${error.message}` }, error)
  }
}
