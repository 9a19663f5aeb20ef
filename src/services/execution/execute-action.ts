import { FaultError, invalid } from '../../base/fault.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { Caller } from '../../model/caller.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { networkRefusal } from '../../model/properties/network-grants.ts'
import type { ExecuteRequest } from '../../wire/reapi/execution-request.ts'
import { inlineOptionsToProto } from '../../wire/tasks/inline-options.ts'
import { ACTION_ORIGIN } from '../../wire/tasks/task-spec.ts'
import type { ExecutionLimits, ExecutionTools } from './execution-tools.ts'
import { missingInputs } from './missing-inputs.ts'
import { missing, readActionTask } from './read-action.ts'
import { commandTaskRequest } from './task-request.ts'

/** An action that a client asks for. */
export interface ActionRequest extends ExecuteRequest {
  readonly caller: Caller
  /** The client's build, for fair shares. */
  readonly invocation: string
  /** The call of the client: reading a large tree of inputs stops when it ends. */
  readonly call: { readonly cancelled: boolean }
}

/**
 * Submits an action, or finds its result in the action cache, which is asked once. Throws `missing` when neither the
 * result nor all inputs are there.
 */
export async function executeAction(request: ActionRequest, tools: ExecutionTools): Promise<OperationStatus> {
  const { instance, priority, skipCacheLookup, inline } = request
  const { task, cached } = await taskToRun(request, tools)
  mustBeGranted(task, request, tools)
  const note = inlineOptionsToProto(inline)
  const submission = commandTaskRequest(task, {
    instance,
    invocation: request.invocation,
    priority,
    origin: ACTION_ORIGIN,
    timeoutMs: timeoutOf(task, tools.limits),
    skipsCache: skipCacheLookup,
    ...(task.cacheable && !skipCacheLookup && { cached: { result: cached } }),
    durability: 'process',
    mayStartEarly: true, // an action has no effects but its result
    needsWaiter: true,
    ...(note !== undefined && { note }),
  })
  return await tools.engine.submit(request.caller, submission).catch(asInvalid)
}

interface TaskToRun {
  readonly task: CommandTask
  readonly cached: Uint8Array | undefined
}

/** A task whose result is in the cache needs no inputs. */
async function taskToRun(request: ActionRequest, tools: ExecutionTools): Promise<TaskToRun> {
  const { blobs, actions } = tools.instances(request.instance)
  const { actionDigest, call } = request
  const { action, task } = await readActionTask(actionDigest, blobs)
  const mayHit = task?.cacheable === true && !request.skipCacheLookup
  const cached = mayHit ? await actions.get(request.instance, actionDigest) : undefined
  if (task !== undefined && cached !== undefined) return { task, cached }
  const ground = { blobs, limits: tools.limits, recent: tools.recentTrees(blobs), call }
  const lost = await missingInputs([action.commandDigest], action.inputRootDigest, ground)
  if (task === undefined || lost.length > 0) throw missing(lost.length > 0 ? lost : [action.commandDigest])
  return { task, cached: undefined }
}

function mustBeGranted({ stages }: CommandTask, { instance }: ActionRequest, { grants }: ExecutionTools): void {
  if (stages.some(({ network }) => network) && !grants('reapi', instance))
    throw new FaultError({ kind: 'denied', what: networkRefusal('reapi', instance) })
}

function timeoutOf({ stages: [stage] }: CommandTask, { defaultTimeoutMs, maxTimeoutMs }: ExecutionLimits): number {
  const timeoutMs = stage?.limits.wallMs
  if (timeoutMs === undefined) return Math.min(defaultTimeoutMs, maxTimeoutMs)
  if (timeoutMs <= maxTimeoutMs) return timeoutMs
  throw invalid(`the timeout of ${timeoutMs / 1000} s is longer than the longest allowed, ${maxTimeoutMs / 1000} s`)
}

/** The engine reports a value above a limit with `range`; REAPI reserves OUT_OF_RANGE for reads past the end of a blob. */
function asInvalid(error: unknown): never {
  if (error instanceof FaultError && error.fault.kind === 'invalid' && error.fault.why === 'range')
    throw new FaultError({ kind: 'invalid', what: error.fault.what }, error)
  throw error
}
