import { ActionWish } from '../gen/windlass/task/v1/task.ts'
import type { InlineOptions } from '../hot/inline-outputs.ts'

/** What an operation remembers of its request. A server may leave out any of it, so too much of it is left out here. */
const MOST_BYTES = 32 * 1024

/** Undefined when there is nothing to remember. */
export function inlineOptionsToProto(wish: InlineOptions): Uint8Array | undefined {
  const bytes = ActionWish.encode(wish).finish()
  if (bytes.length === 0) return undefined
  return bytes.length <= MOST_BYTES ? bytes : ActionWish.encode({ ...wish, inlineOutputFiles: [] }).finish()
}

export function inlineOptionsFromProto(bytes: Uint8Array | undefined): InlineOptions {
  const { inlineStdout, inlineStderr, inlineOutputFiles } = ActionWish.decode(bytes ?? new Uint8Array())
  return { inlineStdout, inlineStderr, inlineOutputFiles }
}
