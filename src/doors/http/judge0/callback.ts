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

/** The name of Judge0's callback form. */
export const JUDGE0_FORM = 'judge0'

export interface Judge0FormOptions {
  readonly instances: Instances
  readonly limits?: Partial<Judge0Limits>
  /** Limit for each stream. */
  readonly mostOutputBytes?: number
}

/** No task runs longer than this. */
const LONGEST_MS = 24 * 3600_000

/** The callback of Judge0: a PUT of the submission in Base64, when all of its runs have ended. */
export const judge0Form = ({ instances, limits, mostOutputBytes = 1024 * 1024 }: Judge0FormOptions): CallbackForm => ({
  method: 'PUT',
  async ready(first, service, signal) {
    const scope = scopeOfServer(first)
    for (const { id } of await otherRunsOf(scope, first, service)) await untilOver(scope, id, { service, signal })
  },
  async body(first, service) {
    const options = {
      fields: FIELDS_BY_DEFAULT,
      isBase64: true,
      limits: { ...JUDGE0_LIMITS, ...limits },
      offers: service.languages(),
      blobs: instances(first.request.instance).blobs,
      mostBytes: mostOutputBytes,
    }
    return JSON.stringify(
      await judge0Answer({ first, others: await otherRunsOf(scopeOfServer(first), first, service) }, options),
    )
  },
})

/** The server itself sends callbacks, in the instance of the submission. */
const scopeOfServer = ({ request }: SnippetStatus): CallScope => ({ caller: LOCAL_CALLER, instance: request.instance })

/** A run that was deleted meanwhile counts as ended. */
async function untilOver(
  scope: CallScope,
  id: string,
  { service, signal }: { service: FormSnippets; signal: AbortSignal },
): Promise<SnippetStatus | undefined> {
  try {
    return await service.wait(scope, id, { ms: LONGEST_MS, signal })
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'absent') return undefined
    throw error
  }
}
