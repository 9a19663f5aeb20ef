import type { Digest } from '../../base/digest.ts'
import { digestListOf } from '../../base/digest-list.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { Caller } from '../../model/caller.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { networkRefusal } from '../../model/properties/network-grants.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import { readWhole } from '../../storage/read-blobs.ts'
import { inlineOptionsToProto } from '../../wire/hot/inline-outputs.ts'
import { type Action, actionFromProto, commandFromProto, taskOfAction } from '../../wire/reapi/action.ts'
import type { ExecuteRequest } from '../../wire/reapi/execution.ts'
import { ACTION_ORIGIN } from '../../wire/tasks/task-spec.ts'
import type { ExecutionLimits, ExecutionTools } from './execution-tools.ts'
import { type InputTreeLimits, missingInputs } from './missing-inputs.ts'
import { commandTaskRequest } from './task-request.ts'

/** An Execute call of a client. */
export interface ActionRequest extends ExecuteRequest {
  readonly caller: Caller
  /** The client's build, for fair shares. */
  readonly invocation: string
  /** The check of a large input tree stops when this call ends. */
  readonly call: { readonly cancelled: boolean }
}

/**
 * Submits an action with its result in the action cache, which is looked up once. Throws `missing` when there is no
 * result and an input is missing.
 */
export async function executeAction(request: ActionRequest, tools: ExecutionTools): Promise<OperationStatus> {
  const { instance, actionDigest, priority, skipCacheLookup } = request
  const { blobs, actions } = tools.instances(instance)
  const found = await readActionTask(actionDigest, blobs)
  const mayHit = found.task?.cacheable === true && !skipCacheLookup
  const cached = mayHit ? await actions.get(instance, actionDigest) : undefined
  // A task whose result is in the cache needs no inputs.
  if (cached === undefined) await mustHaveInputs(found, request, tools)
  const { task } = found
  if (task === undefined) throw missing([found.action.commandDigest])
  mustBeGranted(task, request, tools)
  const note = inlineOptionsToProto(request.inline)
  const taskRequest = commandTaskRequest(task, {
    instance,
    invocation: request.invocation,
    priority,
    origin: ACTION_ORIGIN,
    timeoutMs: timeoutOf(task, tools.limits),
    skipsCache: skipCacheLookup,
    ...(mayHit && { cached: { result: cached } }),
    durability: 'process',
    mayStartEarly: true, // an action has no effects other than its result
    needsWaiter: true,
    ...(note !== undefined && { note }),
  })
  return await tools.engine.submit(request.caller, taskRequest).catch(asInvalid)
}

/** Throws `missing` with all blobs that the store lacks: the client uploads them at once. */
async function mustHaveInputs(
  { action, task }: FoundAction,
  { instance, call }: ActionRequest,
  tools: ExecutionTools,
): Promise<void> {
  const { blobs } = tools.instances(instance)
  const check = { blobs, limits: tools.limits, recent: tools.recentTrees(blobs), call }
  const others = task === undefined ? [action.commandDigest] : [] // reading the Command has touched it
  const absent = await missingInputs(others, action.inputRootDigest, check)
  if (absent.length > 0) throw missing(absent)
}

function mustBeGranted({ stages }: CommandTask, { instance }: ActionRequest, { grants }: ExecutionTools): void {
  if (stages.some(({ network }) => network) && !grants('reapi', instance))
    throw new FaultError({ kind: 'denied', what: networkRefusal('reapi', instance) })
}

function timeoutOf({ stages: [stage] }: CommandTask, { defaultTimeoutMs, maxTimeoutMs }: ExecutionLimits): number {
  const timeoutMs = stage?.limits.wallMs
  if (timeoutMs === undefined) return Math.min(defaultTimeoutMs, maxTimeoutMs)
  if (timeoutMs <= maxTimeoutMs) return timeoutMs
  throw invalid(`the timeout of ${timeoutMs / 1000} s exceeds the limit of ${maxTimeoutMs / 1000} s`)
}

/**
 * The engine reports a value above a limit with `range`; REAPI reserves OUT_OF_RANGE for reads past the end of a blob.
 */
function asInvalid(error: unknown): never {
  if (error instanceof FaultError && error.fault.kind === 'invalid' && error.fault.why === 'range')
    throw new FaultError({ kind: 'invalid', what: error.fault.what }, error)
  throw error
}

/** Any blob can be named as an action, so its size is limited before it is read. */
const MOST_ACTION_BYTES = 1024 * 1024
const MOST_COMMAND_BYTES = 16 * 1024 * 1024

/** An action of a client, decoded once; the task is undefined when the Command message is missing. */
export interface FoundAction {
  readonly action: Action
  readonly task: CommandTask | undefined
}

/** Reads the Action and Command messages of a client. Throws `missing` when there is no Action. */
export async function readActionTask(digest: Digest, blobs: BlobStore): Promise<FoundAction> {
  const { bytes, ...action } = await readAction(digest, blobs)
  const encoded = await readBlob(action.commandDigest, blobs, { what: 'command', most: MOST_COMMAND_BYTES })
  const messages = encoded && { action: bytes, command: encoded }
  return { action, task: messages && taskOfAction({ digest, action, command: commandFromProto(encoded), messages }) }
}

export async function readAction(actionDigest: Digest, blobs: BlobStore): Promise<Action & { bytes: Uint8Array }> {
  const bytes = await readBlob(actionDigest, blobs, { what: 'action', most: MOST_ACTION_BYTES })
  if (bytes === undefined) throw missing([actionDigest])
  return { ...actionFromProto(bytes, actionDigest.fn), bytes }
}

async function readBlob(
  digest: Digest,
  blobs: BlobStore,
  { what, most }: { what: string; most: number },
): Promise<Uint8Array | undefined> {
  if (digest.size > most) throw invalid(`the ${what} has ${digest.size} bytes, and the limit is ${most}`)
  const [bytes] = await readWhole(digestListOf(digest.fn, [digest]), blobs)
  return bytes
}

/** The missing blobs of an action, with the action itself. */
export async function missingForAction(
  actionDigest: Digest,
  blobs: BlobStore,
  limits: InputTreeLimits,
): Promise<Digest[]> {
  const [bytes] = await readWhole(digestListOf(actionDigest.fn, [actionDigest]), blobs)
  if (bytes === undefined) return [actionDigest]
  const { commandDigest, inputRootDigest } = actionFromProto(bytes, actionDigest.fn)
  return missingInputs([commandDigest], inputRootDigest, { blobs, limits })
}

export const missing = (digests: readonly Digest[]): FaultError => new FaultError({ kind: 'missing', digests })
