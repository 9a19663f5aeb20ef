import { FaultError } from '../../../base/fault.ts'
import type { UnaryMethod } from '../../../grpc/service.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import { resultToKeep } from '../../../services/instances/result-to-keep.ts'
import { readWhole } from '../../../storage/read-blobs.ts'
import {
  type GetActionResultRequest,
  readGetActionResultRequest,
  readUpdateActionResultRequest,
} from '../../../wire/hot/action-cache.ts'
import { inlineRequested, withInlined } from '../../../wire/hot/inline-outputs.ts'

/** Below the 4 MiB that gRPC clients accept in one message, with a reserve for framing. */
const MAX_RESULT_BYTES = 3 * 1024 * 1024

/** The action cache of an instance returns complete results only; this adds the requested inline outputs. */
export const getActionResult = (instances: Instances): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const request = readGetActionResultRequest(bytes, (name) => instances(name).unnamedFunction)
    const { actions, blobs } = instances(request.instance)
    const { actionDigest } = request
    const result = await actions.get(request.instance, actionDigest)
    if (result === undefined) {
      throw new FaultError({ kind: 'absent', what: `no result for action ${actionDigest.hash}/${actionDigest.size}` })
    }
    if (!wantsInline(request)) return result
    const into = { bytes: result, fn: actionDigest.fn }
    const wanted = inlineRequested(into, request, MAX_RESULT_BYTES)
    if (wanted.digests.count === 0) return result
    return withInlined(into, wanted, await readWhole(wanted.digests, blobs))
  },
})

const wantsInline = ({ inlineStdout, inlineStderr, inlineOutputFiles }: GetActionResultRequest): boolean =>
  inlineStdout || inlineStderr || inlineOutputFiles.length > 0

export const updateActionResult = (instances: Instances): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const request = readUpdateActionResultRequest(bytes, (name) => instances(name).unnamedFunction)
    const { actions, blobs } = instances(request.instance)
    const { fn } = request.actionDigest
    const result = await resultToKeep(Uint8Array.from(request.result), { fn, blobs })
    await actions.put(request.instance, request.actionDigest, result)
    return result
  },
})
