import type { ServerCall, ServerStreamingMethod } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import { executeAction } from '../../../services/execution/execute-action.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { executeRequestFromProto, waitExecutionRequestFromProto } from '../../../wire/reapi/execution-request.ts'
import { REQUEST_METADATA_HEADER, requestMetadataFromProto } from '../../../wire/reapi/request-metadata.ts'
import { findOperation } from './find-operation.ts'
import { isLongRefusal, refusedOperation } from './problem.ts'
import { tellOperation } from './tell-operation.ts'

/** Runs an action, or finds its result, and streams its state. A client that disconnects can call WaitExecution. */
export const execute = (tools: ExecutionTools): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const request = executeRequestFromProto(bytes, (name) => tools.instances(name).unnamedFunction)
    try {
      const asked = { ...request, caller: LOCAL_CALLER, invocation: invocationOf(call), call }
      await tellOperation(await executeAction(asked, tools), { out, call }, tools)
    } catch (error) {
      if (!isLongRefusal(error)) throw error
      out.write(refusedOperation(request, error))
    }
  },
})

const MOST_INVOCATION_CHARS = 200

/** The build that the call belongs to, as the client names it; empty when its metadata cannot be read. */
function invocationOf({ metadata }: ServerCall): string {
  const [bytes] = metadata.getBinary(REQUEST_METADATA_HEADER)
  const name = bytes && requestMetadataFromProto(bytes)?.toolInvocationId
  return (name ?? '').slice(0, MOST_INVOCATION_CHARS).toWellFormed()
}

/** Streams the state of an operation that an earlier Execute call has started. */
export const waitExecution = (tools: ExecutionTools): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const status = await findOperation(waitExecutionRequestFromProto(bytes), tools.engine)
    await tellOperation(status, { out, call }, tools)
  },
})
