import { checkResult, type ResultCheckOptions } from '../../storage/verification/result-check.ts'
import { viewActionResult, withWorker } from '../../wire/hot/action-result.ts'

/** A result must not be empty on the wire; one without a worker gets this name. */
const UNNAMED_WORKER = 'unknown'

/**
 * Checks an ActionResult that a client sent, and returns the form to store. Throws `invalid` when no client can use it.
 */
export async function resultToKeep(bytes: Uint8Array, options: ResultCheckOptions): Promise<Uint8Array> {
  const view = viewActionResult(bytes, options.fn)
  await checkResult(bytes, options)
  return withWorker(view, UNNAMED_WORKER)
}
