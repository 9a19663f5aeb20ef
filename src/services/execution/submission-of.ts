import { FaultError, invalid } from '../../base/fault.ts'
import type { Submission } from '../../engine/submission.ts'
import type { ServerCall } from '../../grpc/service.ts'
import type { PlatformProperty } from '../../model/command.ts'
import { NETWORK_PROPERTY, type NetworkGrants, networkRefusal } from '../../model/network-grants.ts'
import type { Action } from '../../wire/reapi/execution-action.ts'
import { asksForNetwork, isAboutNetwork } from '../../wire/reapi/execution-command.ts'
import type { ExecuteRequest } from '../../wire/reapi/execution-request.ts'
import { REQUEST_METADATA_HEADER, requestMetadataFromProto } from '../../wire/reapi/request-metadata.ts'
import { actionKeyOf } from '../../wire/tasks/action-key.ts'
import { actionSpecToProto } from '../../wire/tasks/action-spec.ts'
import { actionWishToProto } from '../../wire/tasks/execution-wish.ts'
import { needing } from './task-form-need.ts'
import { type ExecutionLimits, ORIGIN } from './execution-tools.ts'
import { platformNeeds } from './platform-needs.ts'
import type { Work } from './read-action.ts'

/** An action as the grid takes it. It has no effects but its result, and is of use only while somebody waits for it. */
export function submissionOf(request: ExecuteRequest, work: Work, options: SubmissionOptions): Submission {
  const { action, command, actionDigest, inline } = work
  const { instance, priority, skipCacheLookup } = request
  const note = actionWishToProto(request.inline)
  return {
    instance,
    invocation: options.invocation,
    priority,
    origin: ORIGIN,
    spec: actionSpecToProto({ actionDigest, inline }),
    ...needing('action', platformNeeds(roomNeeds(action.platform ?? command.platform, request, options.grants))),
    affinity: [action.inputRootDigest.hash],
    timeoutMs: timeoutOf(action, options.limits),
    // What must not be cached must not be shared with an identical one either.
    ...(!action.doNotCache && { actionKey: actionKeyOf(actionDigest), cacheable: true }),
    skipsCache: skipCacheLookup,
    durability: 'process',
    mayStartEarly: true,
    needsWaiter: true,
    // The rest of the tree was touched when it was looked over, and that keeps it for long enough.
    roots: [actionDigest, action.commandDigest, action.inputRootDigest],
    ...(note !== undefined && { note }),
  }
}

export interface SubmissionOptions {
  readonly invocation: string
  readonly limits: ExecutionLimits
  readonly grants: NetworkGrants
}

/** Clients have several words for a network; workers offer one. */
function roomNeeds(
  platform: readonly PlatformProperty[],
  { instance }: ExecuteRequest,
  grants: NetworkGrants,
): readonly PlatformProperty[] {
  const others = platform.filter((property) => !isAboutNetwork(property))
  if (!asksForNetwork(platform)) return others
  if (!grants('reapi', instance)) throw new FaultError({ kind: 'denied', what: networkRefusal('reapi', instance) })
  return [...others, { name: NETWORK_PROPERTY, value: 'yes' }]
}

function timeoutOf({ timeoutMs }: Action, { defaultTimeoutMs, maxTimeoutMs }: ExecutionLimits): number {
  if (timeoutMs === undefined) return Math.min(defaultTimeoutMs, maxTimeoutMs)
  if (timeoutMs <= maxTimeoutMs) return timeoutMs
  throw invalid(`the timeout of ${timeoutMs / 1000} s is longer than the longest allowed, ${maxTimeoutMs / 1000} s`)
}

const MOST_INVOCATION_CHARS = 200

/** Which build it belongs to, as the client says: garbage is as good as nothing. */
export function invocationOf({ metadata }: ServerCall): string {
  const [bytes] = metadata.getBinary(REQUEST_METADATA_HEADER)
  const name = bytes && requestMetadataFromProto(bytes)?.toolInvocationId
  return (name ?? '').slice(0, MOST_INVOCATION_CHARS).toWellFormed()
}
