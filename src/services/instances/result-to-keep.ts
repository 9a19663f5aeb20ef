import { checkResult, type ResultCheckOptions } from '../../storage/verification/result-check.ts'
import { viewActionResult, withWorker } from '../../wire/hot/action-result.ts'

/** A result must not be empty on the wire; one without a worker gets this name. */
const UNNAMED_WORKER = 'unknown'

/** An ActionResult as a client sent it, in the form in which it is kept. Throws `invalid` when no client can use it. */
export async function resultToKeep(bytes: Uint8Array, options: ResultCheckOptions): Promise<Uint8Array> {
  const view = viewActionResult(bytes, options.fn)
  await checkResult(bytes, options)
  return withWorker(view, UNNAMED_WORKER)
}
