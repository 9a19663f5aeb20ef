import { FaultError } from '../../base/fault.ts'
import type { UnaryMethod } from '../../grpc/service.ts'
import { readGetActionResultRequest, readUpdateActionResultRequest } from '../../wire/hot/action-cache.ts'
import { viewActionResult, withWorker } from '../../wire/hot/action-result.ts'
import { inlineWanted, withInlined } from '../../wire/hot/inline-outputs.ts'
import { isComplete } from './completeness.ts'
import { readWhole } from './held.ts'
import type { Instances } from './instances.ts'

/** What clients take in one message, less some room for framing. */
const MAX_RESULT_BYTES = 3 * 1024 * 1024
/** A result must not be empty on the wire; one that says nobody made it is said to come from here. */
const UNNAMED_WORKER = 'unknown'

/** Hands out a result only with everything that it refers to. */
export const getActionResult = (instances: Instances): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const request = readGetActionResultRequest(bytes, (name) => instances(name).unnamedFunction)
    const { actions, blobs } = instances(request.instance)
    const { actionDigest } = request
    const stored = await actions.get(request.instance, actionDigest)
    const view = stored === undefined ? undefined : viewActionResult(stored, actionDigest.fn)
    // A failure is never served: Bazel takes it for a miss anyway, and runs the action again.
    if (view === undefined || view.exitCode !== 0 || !(await isComplete(view, blobs))) {
      throw new FaultError({ kind: 'absent', what: `no result for action ${actionDigest.hash}/${actionDigest.size}` })
    }
    const wanted = inlineWanted(view, request, MAX_RESULT_BYTES)
    if (wanted.digests.count === 0) return view.bytes
    return withInlined(view, wanted, await readWhole(wanted.digests, blobs))
  },
})

export const updateActionResult = (instances: Instances): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const request = readUpdateActionResultRequest(bytes, (name) => instances(name).unnamedFunction)
    const view = viewActionResult(Uint8Array.from(request.result), request.actionDigest.fn)
    const result = withWorker(view, UNNAMED_WORKER)
    await instances(request.instance).actions.put(request.instance, request.actionDigest, result)
    return result
  },
})
