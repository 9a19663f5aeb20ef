import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import { GrpcError, STATUS, type StatusCode } from '../../grpc/status.ts'
import { heartbeatAnswerFromProto, heartbeatToProto, unregisterToProto } from '../../wire/workers/heartbeat.ts'
import { type AttemptState, taskUpdateToProto } from '../../wire/workers/report.ts'
import { foundStageFromProto, keptStageToProto, stageQuestionToProto } from '../../wire/workers/stage.ts'
import { type Backoff, backoff } from './backoff.ts'
import { leaseStream } from './lease-stream.ts'
import { outputLine } from './output-line.ts'
import type { StageResults, WorkerLink } from './worker-link.ts'

export interface GrpcLinkOptions {
  readonly channel: Channel
  readonly clock: Clock
  readonly worker: string
  /** From 0 up to 1. */
  readonly random: () => number
}

const SCHEDULER = '/expbuild.worker.v1.WorkerScheduler'
const HEARTBEAT_MS = 10_000
/** The server answers after it has recorded the result. */
const REPORT_MS = 60_000
const UNREGISTER_MS = 5000

/** The link over gRPC: expbuild's WorkerScheduler and Windlass's lease stream. */
export function grpcLink(options: GrpcLinkOptions): WorkerLink {
  const { channel, clock, worker, random } = options
  const closing = new AbortController()
  const stream = leaseStream({ ...options, signal: closing.signal })
  const outputs = outputLine(options)

  const update = async (attemptId: string, news: AttemptState): Promise<StatusCode> => {
    const message = taskUpdateToProto({ worker, attemptId, what: news })
    let pauses: Backoff | undefined
    for (;;) {
      const code = await codeOf(
        channel.unary(`${SCHEDULER}/UpdateTaskStatus`, message, { timeoutMs: REPORT_MS, signal: closing.signal }),
      )
      if (closing.signal.aborted || !TEMPORARY.has(code)) return code
      pauses ??= backoff(clock, random)
      await pauses.pause(closing.signal)
      if (closing.signal.aborted) return code
    }
  }

  return {
    open: (listener) => stream.open(listener),
    again: () => stream.again(),
    started: (attemptId) => stream.send({ kind: 'started', attemptId }),
    async report(attemptId, news) {
      outputs.ended(attemptId, 'result' in news && news.result !== undefined)
      const code = await update(attemptId, news)
      if (code !== STATUS.resourceExhausted) return code === STATUS.ok ? 'taken' : 'dropped'
      const what = 'its result exceeds the size of a message that the server accepts'
      return (await update(attemptId, { kind: 'fault', what, hopeless: true })) === STATUS.ok ? 'taken' : 'dropped'
    },
    output: (attemptId, stream, bytes) => outputs.print(attemptId, stream, bytes),
    prompt: (attemptId) => outputs.prompt(attemptId),
    inputTaken: (attemptId, number) => stream.send({ kind: 'input-taken', attemptId, number }),
    stageResults: (attemptId) => stageResultsOf(options, attemptId),
    async heartbeat(pulse) {
      try {
        const message = heartbeatToProto({ worker, ...pulse })
        const options = { timeoutMs: HEARTBEAT_MS, signal: closing.signal }
        return heartbeatAnswerFromProto((await channel.unary(`${SCHEDULER}/ReportHeartbeat`, message, options)).message)
      } catch (error) {
        if (error instanceof GrpcError && error.code === STATUS.notFound) stream.renew()
        else if (!(error instanceof GrpcError || error instanceof FaultError)) throw error
        return undefined
      }
    },
    async unregister() {
      stream.leave()
      await codeOf(
        channel.unary(`${SCHEDULER}/UnregisterWorker`, unregisterToProto(worker), { timeoutMs: UNREGISTER_MS }),
      )
    },
    close() {
      closing.abort()
      outputs.close()
    },
  }
}

/** The server may not have received the report, so it is sent again. Every other code is an answer. */
const TEMPORARY: ReadonlySet<StatusCode> = new Set([
  STATUS.unavailable,
  STATUS.deadlineExceeded,
  STATUS.cancelled,
  STATUS.unknown,
  STATUS.internal,
  STATUS.aborted,
])

async function codeOf(call: Promise<unknown>): Promise<StatusCode> {
  try {
    await call
    return STATUS.ok
  } catch (error) {
    if (error instanceof GrpcError) return error.code
    throw error
  }
}

const STAGES = '/windlass.worker.v1.WorkerLink'
/** Running a stage takes less time than this, so a server that does not answer counts as having no result. */
const STAGE_MS = 5000

/** FindStage and KeepStage. A server that lacks them or cannot be reached is `unavailable`, and the stage runs. */
const stageResultsOf = ({ channel, worker }: GrpcLinkOptions, attemptId: string): StageResults => ({
  async get(conditions) {
    const question = stageQuestionToProto({ worker, attemptId, conditions })
    return foundStageFromProto(await stageCall(channel, `${STAGES}/FindStage`, question))
  },
  async put(conditions, result) {
    await stageCall(channel, `${STAGES}/KeepStage`, keptStageToProto({ worker, attemptId, conditions, result }))
  },
})

async function stageCall(channel: Channel, path: string, message: Uint8Array): Promise<Uint8Array> {
  try {
    return (await channel.unary(path, message, { timeoutMs: STAGE_MS })).message
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    throw new FaultError({ kind: 'unavailable', what: `${path} failed: ${error.message}` }, error)
  }
}
