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
import { findOperation } from '../../../services/execution/find-operation.ts'
import { operationNews } from '../../../services/execution/operation-news.ts'
import { recentTreesOf } from '../../../services/execution/recent-trees.ts'
import { executeRequestFromProto, waitExecutionRequestFromProto } from '../../../wire/reapi/execution-request.ts'
import { actionSpecFromProto } from '../../../wire/tasks/action-spec.ts'
import { reportingFaults } from '../report-faults.ts'
import { operationsService } from './operations.ts'
import { isLongRefusal, refusedOperation } from './problem.ts'
import { invocationOf } from './request.ts'
import { type OperationFollower, operationMessage } from './response.ts'

/** Remote execution as build tools speak it, over the grid. */
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
    try {
      const asked = { ...request, caller: LOCAL_CALLER, invocation: invocationOf(call), call }
      await notifyOperation(await executeAction(asked, tools), { out, call }, tools)
    } catch (error) {
      if (!isLongRefusal(error)) throw error
      out.write(refusedOperation(request, error))
    }
  },
})

/** Streams the state of an operation that an earlier Execute call has started. */
const waitExecution = (tools: ExecutionTools): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const status = await findOperation(waitExecutionRequestFromProto(bytes), tools.engine, LOCAL_CALLER)
    await notifyOperation(status, { out, call }, tools)
  },
})

export interface Listener {
  readonly out: Outgoing
  readonly call: ServerCall
}

/** Tells a client how its operation stands, then each change, until it is over or the client has left. */
export async function notifyOperation(
  first: OperationStatus,
  listener: Listener,
  tools: ExecutionTools,
): Promise<void> {
  const { out, call } = listener
  if (first.end !== undefined) {
    out.write(await operationMessage(first, tools, call))
    return
  }
  // Watched before anything is told: a client that is slow to read still waits for it.
  using news = operationNews(first.operation, tools, call.signal)
  const asker: OperationFollower = { spec: actionSpecFromProto(first.spec), room: (bytes) => call.room(bytes) }
  let said: Uint8Array = await operationMessage(first, tools, asker)
  await send(said, out)
  for (;;) {
    const status = await news.next(tools.limits.keepAliveMs)
    const message = status === undefined ? said : await operationMessage(status, tools, asker)
    // Much that the engine tells makes no difference to a client. But a stream that is silent may be cut on its way.
    if (status === undefined || Buffer.compare(message, said) !== 0) await send(message, out)
    if (status?.end !== undefined) return
    said = message
  }
}

async function send(message: Uint8Array, out: Outgoing): Promise<void> {
  if (!out.write(message)) await out.drained()
}
