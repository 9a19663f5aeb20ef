import { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import type { CallScope } from '../../services/instances/call-scope.ts'
import type { SnippetService } from '../../services/snippets/snippet-service.ts'

interface ProgramTools {
  readonly service: Pick<SnippetService, 'cancel'>
  readonly log: Log
}

/** Cancels a program whose client has disconnected. */
export function endProgram(scope: CallScope, id: string, { service, log }: ProgramTools): void {
  service.cancel(scope, id).catch((error: unknown) => {
    const isGone = error instanceof FaultError && (error.fault.kind === 'absent' || error.fault.kind === 'unavailable')
    if (!isGone) log.warn({ err: error, task: id }, 'cannot cancel an interactive task after its client left')
  })
}
