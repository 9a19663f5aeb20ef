import { FaultError } from '../../../base/fault.ts'
import type { OperationStatus } from '../../../engine/status.ts'
import type { ServerCall, ServerStreamingMethod } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { Instance } from '../../../services/instances/instances.ts'
import {
  type ExecuteRequest,
  executeRequestFromProto,
  waitExecutionRequestFromProto,
} from '../../../wire/reapi/execution-request.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { findOperation } from './find-operation.ts'
import { missingInputs } from '../../../services/execution/missing-inputs.ts'
import { missing, readAction, readCommand, type Work } from '../../../services/execution/read-action.ts'
import { isLongRefusal, refusedOperation } from './problem.ts'
import { invocationOf, submissionOf } from '../../../services/execution/submission-of.ts'
import { tellOperation } from './tell-operation.ts'

/** Runs an action, or finds its result, and tells how it fares. A client that leaves can come back by WaitExecution. */
export const execute = (tools: ExecutionTools): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const request = executeRequestFromProto(bytes, (name) => tools.instances(name).unnamedFunction)
    try {
      await tellOperation(await submit(request, call, tools), { out, call }, tools)
    } catch (error) {
      if (!isLongRefusal(error)) throw error
      out.write(refusedOperation(request, error))
    }
  },
})

async function submit(request: ExecuteRequest, call: ServerCall, tools: ExecutionTools): Promise<OperationStatus> {
  const { engine, limits, grants } = tools
  const work = await readWork(request, call, tools)
  const submission = submissionOf(request, work, { invocation: invocationOf(call), limits, grants })
  return await engine.submit(LOCAL_CALLER, submission).catch(tooMuch)
}

/** The engine calls what is too much of something out of range; in this protocol that is for reading past an end. */
function tooMuch(error: unknown): never {
  if (error instanceof FaultError && error.fault.kind === 'invalid' && error.fault.why === 'range')
    throw new FaultError({ kind: 'invalid', what: error.fault.what }, error)
  throw error
}

/** Everything that the action needs is there, or its result is: then nothing else is needed. */
async function readWork(request: ExecuteRequest, call: ServerCall, tools: ExecutionTools): Promise<Work> {
  const instance = tools.instances(request.instance)
  const { blobs } = instance
  const { limits } = tools
  const { actionDigest } = request
  const { bytes, ...action } = await readAction(actionDigest, blobs)
  const read = await readCommand(action, blobs)
  if (read === undefined || !(await hasResult(request, action.doNotCache, instance))) {
    const recent = tools.recentTrees(blobs)
    const lost = await missingInputs([action.commandDigest], action.inputRootDigest, { blobs, limits, recent, call })
    if (read === undefined || lost.length > 0) throw missing(lost.length > 0 ? lost : [action.commandDigest])
  }
  return { actionDigest, action, command: read.command, inline: { action: bytes, command: read.bytes } }
}

async function hasResult(request: ExecuteRequest, doNotCache: boolean, { actions }: Instance): Promise<boolean> {
  if (doNotCache || request.skipCacheLookup) return false
  return (await actions.get(request.instance, request.actionDigest)) !== undefined
}

/** Goes on telling where another stream broke off, be it that of a client that another joined. */
export const waitExecution = (tools: ExecutionTools): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const status = await findOperation(waitExecutionRequestFromProto(bytes), tools.engine)
    await tellOperation(status, { out, call }, tools)
  },
})
