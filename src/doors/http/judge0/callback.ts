import { FaultError } from '../../../base/fault.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import type { CallbackForm, FormSnippets } from '../../../services/snippets/callback-form.ts'
import { JUDGE0_LIMITS, type Judge0Limits } from './judge0-limits.ts'
import { otherRunsOf } from './other-runs.ts'
import { judge0Answer } from './response.ts'
import { FIELDS_BY_DEFAULT } from './submission-fields.ts'

/** Under which callbacks of submissions are known. */
export const JUDGE0_FORM = 'judge0'

export interface Judge0FormOptions {
  readonly instances: Instances
  readonly limits?: Partial<Judge0Limits>
  /** Limit for each stream. */
  readonly mostOutputBytes?: number
}

/** No task lives longer than that. */
const LONGEST_MS = 24 * 3600_000

/** A submission as Judge0 puts it at a callback's address: in Base64, when all of its runs are over. */
export const judge0Form = ({ instances, limits, mostOutputBytes = 1024 * 1024 }: Judge0FormOptions): CallbackForm => ({
  method: 'PUT',
  async ready(first, desk, signal) {
    const scope = scopeOfServer(first)
    for (const { id } of await otherRunsOf(scope, first, desk)) await untilOver(scope, id, { desk, signal })
  },
  async body(first, desk) {
    const wish = {
      fields: FIELDS_BY_DEFAULT,
      isBase64: true,
      limits: { ...JUDGE0_LIMITS, ...limits },
      offers: desk.languages(),
      blobs: instances(first.request.instance).blobs,
      mostBytes: mostOutputBytes,
    }
    return JSON.stringify(
      await judge0Answer({ first, others: await otherRunsOf(scopeOfServer(first), first, desk) }, wish),
    )
  },
})

/** The server itself sends callbacks, in the instance of the submission. */
const scopeOfServer = ({ request }: SnippetStatus): CallScope => ({ caller: LOCAL_CALLER, instance: request.instance })

/** One that is forgotten meanwhile is over, too. */
async function untilOver(
  scope: CallScope,
  id: string,
  { desk, signal }: { desk: FormSnippets; signal: AbortSignal },
): Promise<SnippetStatus | undefined> {
  try {
    return await desk.wait(scope, id, { ms: LONGEST_MS, signal })
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'absent') return undefined
    throw error
  }
}
