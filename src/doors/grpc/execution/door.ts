import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { Outgoing, ServerCall, ServerStreamingMethod, Service } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import { noNetwork } from '../../../model/properties/network-grants.ts'
import { executeAction } from '../../../services/execution/execute-action.ts'
import {
  DEFAULT_EXECUTION_LIMITS,
  type ExecutionDoorOptions,
  type ExecutionTools,
} from '../../../services/execution/execution-tools.ts'
import { findOperation, watchOperation } from '../../../services/execution/follow-operation.ts'
import { recentTreesOf } from '../../../services/execution/missing-inputs.ts'
import {
  executeRequestFromProto,
  REQUEST_METADATA_HEADER,
  requestMetadataFromProto,
  waitExecutionRequestFromProto,
} from '../../../wire/reapi/execution.ts'
import { reportingFaults } from '../report-faults.ts'
import { operationsService } from './operations.ts'
import { isLongRefusal, refusedOperation } from './problem.ts'
import { actionDigestOf, messageKey, type OperationFollower, operationMessages } from './response.ts'

/** The services Execution and Operations of the Remote Execution API. */
export function executionDoor(options: ExecutionDoorOptions): Service[] {
  const { engine, instances, clock, limits, logStreams, grants = noNetwork } = options
  const tools: ExecutionTools = {
    engine,
    instances,
    clock,
    limits: { ...DEFAULT_EXECUTION_LIMITS, ...limits },
    logStreams,
    grants,
    recentTrees: recentTreesOf(clock),
  }
  const services: Service[] = [
    {
      name: 'build.bazel.remote.execution.v2.Execution',
      methods: { Execute: execute(tools), WaitExecution: waitExecution(tools) },
    },
    operationsService(tools),
  ]
  return services.map(reportingFaults)
}

/** Runs an action, or finds its result, and streams its state. A client that disconnects can call WaitExecution. */
const execute = (tools: ExecutionTools): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const request = executeRequestFromProto(bytes, (name) => tools.instances(name).unnamedFunction)
    const { actionDigest } = request
    try {
      const status = await executeAction(
        { ...request, caller: LOCAL_CALLER, invocation: invocationOf(call), call },
        tools,
      )
      await streamOperation(status, { out, call, actionDigest, inline: request.inline }, tools)
    } catch (error) {
      if (!isLongRefusal(error)) throw error
      out.write(refusedOperation(request, error))
    }
  },
})

const MOST_INVOCATION_CHARS = 200

/** The build that the call belongs to, as the client names it; empty when its metadata cannot be decoded. */
function invocationOf({ metadata }: ServerCall): string {
  const [bytes] = metadata.getBinary(REQUEST_METADATA_HEADER)
  const name = bytes && requestMetadataFromProto(bytes)?.toolInvocationId
  return (name ?? '').slice(0, MOST_INVOCATION_CHARS).toWellFormed()
}

/** Streams the state of an operation that an earlier Execute call has started. */
const waitExecution = (tools: ExecutionTools): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const status = await findOperation(waitExecutionRequestFromProto(bytes), tools.engine, LOCAL_CALLER)
    await streamOperation(status, { out, call, actionDigest: actionDigestOf(status) }, tools)
  },
})

interface OperationStream extends OperationFollower {
  readonly out: Outgoing
  readonly call: ServerCall
}

/** Streams the status of an operation and each change, until it has ended or the client has disconnected. */
export async function streamOperation(
  first: OperationStatus,
  stream: OperationStream,
  tools: ExecutionTools,
): Promise<void> {
  const { out, call } = stream
  const messageOf = operationMessages(first, tools, stream)
  if (first.end !== undefined) {
    out.write(await messageOf(first))
    return
  }
  // Watched before the first message is sent: a task whose client reads slowly still has a waiter.
  using changes = watchOperation(first, tools, call.signal)
  let sent = first
  let message = await messageOf(first)
  await send(message, out)
  for (;;) {
    const status = await changes.next(tools.limits.keepAliveMs)
    if (status !== undefined && (status.end !== undefined || messageKey(status) !== messageKey(sent))) {
      message = await messageOf(status)
      sent = status
    } else if (status !== undefined) continue // the change is not visible to the client
    // Without a change the last message is repeated: proxies cut a stream that is silent.
    await send(message, out)
    if (status?.end !== undefined) return
  }
}

async function send(message: Uint8Array, out: Outgoing): Promise<void> {
  if (!out.write(message)) await out.drained()
}
