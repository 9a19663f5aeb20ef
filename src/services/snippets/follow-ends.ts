import type { OperationStatus } from '../../engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import type { SnippetCallback, SnippetStatus } from '../../model/snippet.ts'
import type { CallbackSender } from './callbacks/callback-sender.ts'
import { SNIPPET_ORIGIN } from './snippet-status.ts'
import { codeHashOf } from './snippet-task-request.ts'
import type { SnippetTools } from './snippet-tools.ts'

/** Sends the callback of an ended task. */
export interface EndCalls extends Pick<CallbackSender, 'due'> {
  /** Resolves when all is over that the callback tells of. */
  ready(status: SnippetStatus): Promise<void>
}

/** Learns from each end how long its kind takes, and sees to it that its callback is sent. */
export function followEnds(tools: SnippetTools, calls: EndCalls | undefined) {
  const stops = new Map<string, () => void>()
  const call = (status: SnippetStatus, { url }: SnippetCallback): void => {
    calls?.ready(status).then(
      () => calls.due(status.id, url),
      (error: unknown) => tools.log.error({ err: error, task: status.id }, 'cannot prepare a callback'),
    )
  }
  const ended = (operation: OperationStatus): void => {
    const view = tools.views.of(operation)
    tools.views.release(operation.operation)
    if (view === undefined) return
    const { request, result, state, cached } = view.status
    const ms = result?.stages.reduce((sum, { usage }) => sum + usage.wallMs, 0)
    if (ms !== undefined && !cached && state !== 'cancelled')
      tools.durations.learn(request.language, codeHashOf(request), ms)
    if (request.callback !== undefined) call(view.status, request.callback)
  }
  const follow = (operation: OperationStatus): void => {
    const id = operation.operation
    if (stops.has(id)) return
    if (operation.end !== undefined) return ended(operation)
    stops.set(
      id,
      tools.engine.watch(LOCAL_CALLER, id, {
        told(now) {
          if (now.end === undefined) return
          stops.delete(id)
          setImmediate(() => ended(now)) // the waiting request is answered first
        },
        failed() {
          stops.delete(id)
          tools.views.release(id)
        },
      }),
    )
  }
  for (const operation of tools.engine.operations()) if (operation.origin === SNIPPET_ORIGIN) follow(operation)
  return {
    follow,
    /** Follows a task whose callback was due when the last process ended. */
    resume(id: string, log: { drop(task: string): Promise<void> }): void {
      tools.engine.find(LOCAL_CALLER, id).then(
        (operation) => (operation === undefined ? log.drop(id) : follow(operation)),
        (error: unknown) => tools.log.error({ err: error, task: id }, 'cannot resume a callback after a restart'),
      )
    },
    stop(): void {
      for (const stop of stops.values()) stop()
      stops.clear()
    },
  }
}
