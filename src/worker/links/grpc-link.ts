import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Channel } from '../../grpc/client/channel.ts'
import { GrpcError, STATUS, type StatusCode } from '../../grpc/status.ts'
import { heartbeatAnswerFromProto, heartbeatToProto, unregisterToProto } from '../../wire/workers/heartbeat.ts'
import { type TaskNews, taskUpdateToProto } from '../../wire/workers/status.ts'
import { backoff } from './backoff.ts'
import { grpcStageResults } from './grpc-stage-results.ts'
import { leaseStream } from './lease-stream.ts'
import { outputLine } from './output-line.ts'
import type { WorkerLink } from './worker-link.ts'

export interface GrpcLinkOptions {
  readonly channel: Channel
  readonly clock: Clock
  readonly worker: string
  /** From 0 up to 1. */
  readonly random: () => number
}

const SCHEDULER = '/expbuild.worker.v1.WorkerScheduler'
const HEARTBEAT_MS = 10_000
/** The server answers when the result is on record. */
const REPORT_MS = 60_000
const GOODBYE_MS = 5000

/** Over expbuild's WorkerScheduler and Windlass's stream. */
export function grpcLink(options: GrpcLinkOptions): WorkerLink {
  const { channel, clock, worker, random } = options
  const closing = new AbortController()
  const stream = leaseStream({ ...options, signal: closing.signal })
  const outputs = outputLine(options)

  const update = async (attemptId: string, news: TaskNews): Promise<StatusCode> => {
    const message = taskUpdateToProto({ worker, attemptId, what: news })
    const tries = backoff(clock, random)
    for (;;) {
      const code = await codeOf(
        channel.unary(`${SCHEDULER}/UpdateTaskStatus`, message, { timeoutMs: REPORT_MS, signal: closing.signal }),
      )
      if (closing.signal.aborted || !PASSING.has(code)) return code
      await tries.pause(closing.signal)
      if (closing.signal.aborted) return code
    }
  }

  return {
    open: (listener) => stream.open(listener),
    again: () => stream.again(),
    started: (attemptId) => stream.say({ kind: 'started', attemptId }),
    async report(attemptId, news) {
      outputs.ended(attemptId, 'result' in news && news.result !== undefined)
      const code = await update(attemptId, news)
      if (code !== STATUS.resourceExhausted) return code === STATUS.ok ? 'taken' : 'dropped'
      const what = 'its result is more than the server takes in one message'
      return (await update(attemptId, { kind: 'fault', what, hopeless: true })) === STATUS.ok ? 'taken' : 'dropped'
    },
    output: (attemptId, stream, bytes) => outputs.print(attemptId, stream, bytes),
    prompt: (attemptId) => outputs.prompt(attemptId),
    inputTaken: (attemptId, number) => stream.say({ kind: 'input-taken', attemptId, number }),
    stageResults: (attemptId) => grpcStageResults({ channel, worker, attemptId }),
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
      await codeOf(channel.unary(`${SCHEDULER}/UnregisterWorker`, unregisterToProto(worker), { timeoutMs: GOODBYE_MS }))
    },
    close() {
      closing.abort()
      outputs.close()
    },
  }
}

/** Worth saying again: the server may not have heard it. Everything else is an answer. */
const PASSING: ReadonlySet<StatusCode> = new Set([
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
