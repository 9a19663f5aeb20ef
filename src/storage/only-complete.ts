import type { DigestFunction } from '../base/digest.ts'
import { FaultError } from '../base/fault.ts'
import { type ActionResultView, viewActionResult } from '../wire/hot/action-result.ts'
import type { ActionCache } from './action-cache.ts'
import type { BlobStore } from './blob-store.ts'
import { type CompletenessTools, isComplete } from './completeness.ts'
import { KnownTrees } from './known-trees.ts'

/** Returns only successful results whose outputs are all in the store, because clients rely on that. */
export const onlyComplete =
  (blobs: BlobStore, known = new KnownTrees()) =>
  (inner: ActionCache): ActionCache => ({
    ...inner,
    async get(instance, action) {
      const result = await inner.get(instance, action)
      if (result === undefined) return undefined
      const isOfUse = isUseful(result, action.fn, { blobs, known })
      return (typeof isOfUse === 'boolean' ? isOfUse : await isOfUse) ? result : undefined
    },
  })

/** A failed result is never served: Bazel treats it as a miss and runs the action again. */
function isUseful(result: Uint8Array, fn: DigestFunction, tools: CompletenessTools): boolean | Promise<boolean> {
  const view = viewOrNone(result, fn)
  return view !== undefined && view.exitCode === 0 && isComplete(view, tools)
}

/** A result that an earlier version stored may be malformed: that is a miss, and the action runs again. */
function viewOrNone(result: Uint8Array, fn: DigestFunction): ActionResultView | undefined {
  try {
    return viewActionResult(result, fn)
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'invalid') return undefined
    throw error
  }
}
