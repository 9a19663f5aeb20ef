/**
 * A client that retries like Bazel: it executes an action, follows the operation, and calls WaitExecution when the
 * connection breaks; it executes the action again only when the operation is NOT_FOUND.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/app/process/clock.ts'
import type { Digest } from '../../src/base/digest.ts'
import { createChannel } from '../../src/grpc/client/channel.ts'
import { GrpcError, STATUS } from '../../src/grpc/status.ts'
import { getActionResultRequest } from '../../src/wire/calls/action-cache.ts'
import { actionResultFromProto } from '../../src/wire/reapi/action-result.ts'
import { batchUpdatedFromProto, batchUpdateToProto, type PackedBlob } from '../../src/wire/reapi/cas-calls.ts'
import {
  type ExecutionOperation,
  executeRequestToProto,
  executionOperationFromProto,
  waitExecutionRequestToProto,
} from '../../src/wire/reapi/execution.ts'

const SERVICE = '/build.bazel.remote.execution.v2'
const SCOPE = { instance: '', fn: 'sha256' } as const
const PAUSE_MS = 200
/** Transient status codes, which are retried. */
const PASSING: readonly number[] = [STATUS.unavailable, STATUS.aborted, STATUS.internal, STATUS.resourceExhausted]

/** The course of one action, as its client saw it. */
export interface Story {
  /** The name of the attempt that printed it. */
  readonly printed: string
  readonly exitCode: number
  /** All operations of the action, the one that ended it last. */
  readonly operations: readonly string[]
  /** The number of WaitExecution calls, and the retryable failures that the server reported. */
  readonly waits: number
  readonly failures: readonly string[]
}

export interface PatientClient {
  upload(blobs: readonly PackedBlob[]): Promise<void>
  execute(action: Digest, signal: AbortSignal): Promise<Story>
  /** The operation's end; undefined when it is NOT_FOUND. */
  look(operation: string): Promise<ExecutionOperation | undefined>
  /** The stdout in the action cache; undefined when there is no entry. */
  cached(action: Digest): Promise<string | undefined>
  close(): void
}

/** The stdout of a result. */
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
  /** Follows an operation, and passes on its last message before the stream broke or ended. */
  const last = async (method: string, request: Uint8Array, { signal, heard: received }: Listening): Promise<void> => {
    const call = follow(method, request, signal)
    call.trailers.catch(() => {})
    for await (const message of call) received(executionOperationFromProto(Buffer.from(message)))
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
      let received: ExecutionOperation | undefined
      const listening = {
        signal: AbortSignal.timeout(30_000),
        heard(news: ExecutionOperation) {
          received = news
        },
      }
      try {
        await last('WaitExecution', waitExecutionRequestToProto(operation), listening)
      } catch (error) {
        if (!(error instanceof GrpcError) || error.code !== STATUS.notFound) throw error
      }
      return received
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
  const received = (operation: ExecutionOperation): void => {
    current = operation
    if (operations.at(-1) !== operation.name) operations.push(operation.name)
  }
  for (;;) {
    try {
      if (current === undefined) await follow('Execute', executeRequestToProto(request), { signal, heard: received })
      else {
        waits++
        await follow('WaitExecution', waitExecutionRequestToProto(current.name), { signal, heard: received })
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
