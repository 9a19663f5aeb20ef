import { GrpcError, STATUS } from '../../../../grpc/status.ts'
import { ExecuteOperationMetadata } from '../../../../wire/gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { PreconditionFailure } from '../../../../wire/gen/google/rpc/error_details.ts'
import { Status } from '../../../../wire/gen/google/rpc/status.ts'
import { METADATA_TYPE } from '../../probe/operation-message.ts'
import type { ExecutionId } from '../../table/behaviours.ts'
import { changingAction, type Detour, executing, fails, readStoredAction, recoded, refusing } from './detour.ts'

type Details = Status['details']

/** Changes the status details of an error. */
const detailing = (change: (details: Details) => Details): Detour =>
  executing(async function* (request, call, { methods }) {
    try {
      yield* methods.execute(request, call)
    } catch (error) {
      if (!(error instanceof GrpcError) || error.details === undefined) throw error
      const status = Status.decode(error.details)
      const details = Status.encode({ ...status, details: change(status.details) }).finish()
      throw new GrpcError(error.code, error.message, { details })
    }
  })

type Violation = PreconditionFailure['violations'][number]

const violating = (change: (violations: readonly Violation[]) => readonly Violation[]): Detour =>
  detailing((details) =>
    details.map(({ typeUrl, value }) => {
      const violations = change(PreconditionFailure.decode(value).violations)
      return { typeUrl, value: PreconditionFailure.encode({ violations }).finish() }
    }),
  )

/** Returns the first error again for every later request. */
const unforgiving: Detour = ({ methods }) => {
  const refused = new Map<string, unknown>()
  return {
    async *execute(request, call) {
      const hash = request.actionDigest?.hash ?? ''
      if (refused.has(hash)) throw refused.get(hash)
      try {
        yield* methods.execute(request, call)
      } catch (error) {
        refused.set(hash, error)
        throw error
      }
    },
  }
}

/** Identifies blobs by hash only. */
const sizeless = executing(async function* (request, call, { methods }) {
  try {
    yield* methods.execute(request, call)
  } catch (error) {
    const { actionDigest } = request
    if (actionDigest === undefined) throw error
    const sizeBytes = actionDigest.sizeBytes - 1
    yield* methods.execute({ ...request, actionDigest: { ...actionDigest, sizeBytes } }, call)
  }
})

/** Reports an action with a platform property at one stage and never runs it. */
export const keptAt = (stage: ExecuteOperationMetadata['stage']): Detour =>
  executing(async function* (request, call, right) {
    const { action } = await readStoredAction(request, right)
    if ((action.platform?.properties.length ?? 0) === 0) return yield* right.methods.execute(request, call)
    const metadata = ExecuteOperationMetadata.fromPartial({ stage })
    const open = { done: false, error: undefined, responseType: '', response: undefined }
    yield { name: 'kept', metadataType: METADATA_TYPE, metadata, ...open }
    await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
  })

const missingIs = recoded(STATUS.failedPrecondition, STATUS.notFound)
const invalidIs = recoded(STATUS.invalidArgument, STATUS.internal)

export const refusalBreaks = {
  'refusal.missing-action': executing(async function* (request, call, { methods, blob }) {
    if ((await blob(request.actionDigest)).length === 0) fails(STATUS.notFound)
    yield* methods.execute(request, call)
  }),
  'refusal.missing-command': missingIs,
  'refusal.missing-root': missingIs,
  'refusal.missing-file': missingIs,
  'refusal.missing-directory': missingIs,
  'refusal.one-detail': detailing((details) => [...details, ...details]),
  'refusal.all-missing': violating((violations) => violations.slice(0, 1)),
  'refusal.violation-type': violating((violations) => violations.map((each) => ({ ...each, type: 'GONE' }))),
  'refusal.subject': violating((violations) =>
    violations.map((each) => ({ ...each, subject: `main/${each.subject}` })),
  ),
  'refusal.after-upload': unforgiving,
  'refusal.wrong-size': sizeless,
  'refusal.no-action': refusing(({ actionDigest }) => actionDigest === undefined, STATUS.internal),
  'refusal.malformed-digest': refusing(({ actionDigest }) => actionDigest?.hash.length === 63, STATUS.notFound),
  'refusal.not-an-action': invalidIs,
  'refusal.no-arguments': invalidIs,
  'refusal.unknown-property': changingAction(({ action, command }) => ({
    action: { ...action, platform: undefined },
    command: { ...command, platform: undefined },
  })),
} satisfies Partial<Record<ExecutionId, Detour>>
