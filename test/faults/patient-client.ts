/**
 * A client that does not give up, in the way of Bazel: it asks for an action to be run, follows the operation, and when
 * the connection breaks asks after the operation by its name; only when nobody knows that name does it start over.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/app/process/clock.ts'
import type { Digest } from '../../src/base/digest.ts'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { GrpcError, STATUS } from '../../src/grpc/status.ts'
import { getActionResultRequest } from '../../src/wire/calls/action-cache.ts'
import { actionResultFromProto } from '../../src/wire/reapi/action-result.ts'
import { batchUpdatedFromProto, batchUpdateToProto, type PackedBlob } from '../../src/wire/reapi/cas-calls.ts'
import { type ExecutionOperation, executionOperationFromProto } from '../../src/wire/reapi/execution-operation.ts'
import { executeRequestToProto, waitExecutionRequestToProto } from '../../src/wire/reapi/execution-request.ts'

const SERVICE = '/build.bazel.remote.execution.v2'
const SCOPE = { instance: '', fn: 'sha256' } as const
const PAUSE_MS = 200
/** What passes, and is worth another try. */
const PASSING: readonly number[] = [STATUS.unavailable, STATUS.aborted, STATUS.internal, STATUS.resourceExhausted]

/** How one action went, as its client saw it. */
export interface Story {
  /** The name of the try that printed it. */
  readonly printed: string
  readonly exitCode: number
  /** All operations that stood for it, the one that ended it last. */
  readonly operations: readonly string[]
  /** How often it was followed up by its name, and how often the server said that it failed and should be asked again. */
  readonly waits: number
  readonly failures: readonly string[]
}

export interface PatientClient {
  upload(blobs: readonly PackedBlob[]): Promise<void>
  execute(action: Digest, signal: AbortSignal): Promise<Story>
  /** What the operation ended with; undefined when nobody knows it. */
  look(operation: string): Promise<ExecutionOperation | undefined>
  /** What the action cache holds for it; undefined when that is nothing. */
  cached(action: Digest): Promise<string | undefined>
  close(): void
}

/** What a result says was printed. */
const printedIn = (result: Uint8Array | undefined): { printed: string; exitCode: number } => {
  const { stdout, exitCode } = actionResultFromProto(result ?? new Uint8Array(), 'sha256')
  return {
    printed: Buffer.from(stdout.raw ?? [])
      .toString()
      .trim(),
    exitCode,
  }
}

export const printedBy = ({ response }: ExecutionOperation): string => printedIn(response?.result).printed

export function patientClient(address: string): PatientClient {
  const [host = '', port] = address.split(':')
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  const channel = createChannel({ address: { host, port: Number(port) }, timing, maxBackoffMs: 500 })
  const follow = (method: string, request: Uint8Array, signal: AbortSignal) =>
    channel.serverStreaming(`${SERVICE}.Execution/${method}`, request, { signal })
  /** The last that was heard of it before the stream broke or ended. */
  const last = async (method: string, request: Uint8Array, { signal, heard }: Listening): Promise<void> => {
    const call = follow(method, request, signal)
    call.trailers.catch(() => {})
    for await (const message of call) heard(executionOperationFromProto(Buffer.from(message)))
  }
  return {
    async upload(blobs) {
      const path = `${SERVICE}.ContentAddressableStorage/BatchUpdateBlobs`
      const { message } = await channel.unary(path, batchUpdateToProto(SCOPE, blobs))
      const refused = batchUpdatedFromProto(message, 'sha256').find(({ code }) => code !== 0)
      if (refused !== undefined) throw new Error(`a blob was not taken: ${refused.message}`)
    },
    execute: (action, signal) => executePatiently(last, action, signal),
    async look(operation) {
      let heard: ExecutionOperation | undefined
      const listening = {
        signal: AbortSignal.timeout(30_000),
        heard(news: ExecutionOperation) {
          heard = news
        },
      }
      try {
        await last('WaitExecution', waitExecutionRequestToProto(operation), listening)
      } catch (error) {
        if (!(error instanceof GrpcError) || error.code !== STATUS.notFound) throw error
      }
      return heard
    },
    async cached(action) {
      try {
        const path = `${SERVICE}.ActionCache/GetActionResult`
        const { message } = await channel.unary(path, getActionResultRequest('', action))
        return printedIn(Buffer.from(message)).printed
      } catch (error) {
        if (error instanceof GrpcError && error.code === STATUS.notFound) return undefined
        throw error
      }
    },
    close: () => channel.close(),
  }
}

interface Listening {
  readonly signal: AbortSignal
  heard(operation: ExecutionOperation): void
}

type Follow = (method: string, request: Uint8Array, listening: Listening) => Promise<void>

async function executePatiently(follow: Follow, actionDigest: Digest, signal: AbortSignal): Promise<Story> {
  const inline = { inlineStdout: true, inlineStderr: false, inlineOutputFiles: [] }
  const request = { instance: '', actionDigest, skipCacheLookup: false, priority: 0, cachePriority: 0, inline }
  const operations: string[] = []
  const failures: string[] = []
  let waits = 0
  let current: ExecutionOperation | undefined
  const heard = (operation: ExecutionOperation): void => {
    current = operation
    if (operations.at(-1) !== operation.name) operations.push(operation.name)
  }
  for (;;) {
    try {
      if (current === undefined) await follow('Execute', executeRequestToProto(request), { signal, heard })
      else {
        waits++
        await follow('WaitExecution', waitExecutionRequestToProto(current.name), { signal, heard })
      }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof GrpcError)) throw error
      if (error.code === STATUS.notFound && current !== undefined) current = undefined
      else if (!PASSING.includes(error.code)) throw error
    }
    const response = current?.response
    if (response !== undefined) {
      if (response.status.code === STATUS.ok) return { ...printedIn(response.result), operations, waits, failures }
      failures.push(`${response.status.code} ${response.status.message}`)
      if (!PASSING.includes(response.status.code)) throw new Error(`it failed: ${failures.at(-1)}`)
      current = undefined
    }
    await sleep(PAUSE_MS, undefined, { signal })
  }
}
