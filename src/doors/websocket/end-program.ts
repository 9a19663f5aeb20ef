import { FaultError } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import type { SnippetService } from '../../services/snippets/snippet-service.ts'

/** Nobody is at it any more. */
export function endProgram(id: string, { desk, log }: { desk: Pick<SnippetService, 'cancel'>; log: Log }): void {
  desk.cancel(id).catch((error: unknown) => {
    const isGone = error instanceof FaultError && (error.fault.kind === 'absent' || error.fault.kind === 'unavailable')
    if (!isGone) log.warn({ err: error, task: id }, 'a program that nobody types to any more could not be ended')
  })
}
