/** One connection to a server, and a whole Execute call on it. */
import { systemClock } from '../../../src/app/process/clock.ts'
import { type Channel, createChannel } from '../../../src/grpc/client/channel.ts'
import { actionResultFromProto } from '../../../src/wire/reapi/action-result.ts'
import { batchUpdatedFromProto, batchUpdateToProto } from '../../../src/wire/reapi/cas-calls.ts'
import { type ExecutionOperation, executionOperationFromProto } from '../../../src/wire/reapi/execution.ts'
import type { BenchAction } from './actions.ts'

const REAPI = '/build.bazel.remote.execution.v2'
const UPLOADED_AT_ONCE = 1000

export function channelTo(port: number): Channel {
  const timing = { now: systemClock.monotonic, after: systemClock.after }
  return createChannel({ address: { host: '127.0.0.1', port }, timing })
}

export async function uploadAll(channel: Channel, actions: readonly BenchAction[]): Promise<void> {
  for (let i = 0; i < actions.length; i += UPLOADED_AT_ONCE) {
    const blobs = actions.slice(i, i + UPLOADED_AT_ONCE).flatMap((action) => action.blobs)
    const request = batchUpdateToProto({ instance: '', fn: 'sha256' }, blobs)
    const { message } = await channel.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, request)
    const refused = batchUpdatedFromProto(message, 'sha256').find(({ code }) => code !== 0)
    if (refused !== undefined) throw new Error(`the server did not take a blob: ${refused.message}`)
  }
}

/** Resolves with the last Operation; throws unless the command ran and exited with 0. */
export async function execute(channel: Channel, { request }: BenchAction): Promise<ExecutionOperation> {
  const call = channel.serverStreaming(`${REAPI}.Execution/Execute`, request)
  let last: Uint8Array | undefined
  for await (const message of call) last = Buffer.from(message)
  if (last === undefined) throw new Error('the server said nothing')
  const operation = executionOperationFromProto(last)
  const { response } = operation
  if (response === undefined) throw new Error('the server left before the end')
  if (response.status.code !== 0) throw new Error(`it failed: ${response.status.message}`)
  return operation
}

/** The start time of each stage, by the clocks of server and worker. */
export function timesOf({ response }: ExecutionOperation) {
  const { exitCode, metadata } = actionResultFromProto(response?.result ?? new Uint8Array(), 'sha256')
  if (exitCode !== 0) throw new Error(`/bin/true ended with ${exitCode}`)
  return metadata?.times ?? {}
}
