import { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import type { CallScope } from '../../services/instances/call-scope.ts'
import type { SnippetService } from '../../services/snippets/snippet-service.ts'

interface ProgramTools {
  readonly desk: Pick<SnippetService, 'cancel'>
  readonly log: Log
}

/** Cancels a program whose client has disconnected. */
export function endProgram(scope: CallScope, id: string, { desk, log }: ProgramTools): void {
  desk.cancel(scope, id).catch((error: unknown) => {
    const isGone = error instanceof FaultError && (error.fault.kind === 'absent' || error.fault.kind === 'unavailable')
    if (!isGone) log.warn({ err: error, task: id }, 'cannot cancel an interactive task after its client left')
  })
}
