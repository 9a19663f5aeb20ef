/**
 * Watches operations until they end: for callers (`watch`, `wait`), and for the service itself, which learns run times
 * and sends callbacks.
 */
import { FaultError } from '../../base/fault.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import type { SnippetCallback, SnippetStatus } from '../../model/snippet.ts'
import type { CallScope } from '../instances/call-scope.ts'
import type { CallbackSender } from './callbacks/callback-sender.ts'
import { codeHashOf } from './durations.ts'
import type { SnippetWatcher, WaitLimit } from './snippet-service.ts'
import type { SnippetTools } from './snippet-tools.ts'
import { SNIPPET_ORIGIN, type SnippetView } from './snippet-view.ts'

export const noSnippet = (id: string): FaultError =>
  new FaultError({ kind: 'absent', what: `no task is named ${id.slice(0, 200)}` })

export interface ViewTools {
  readonly tools: SnippetTools
  /** Adds the verdict to the status of an ended task. */
  readonly complete: (view: SnippetView) => Promise<SnippetStatus>
}

interface WatchTools extends ViewTools {
  readonly scope: CallScope
}

/** Notifies of each change; the watcher gets the end with its verdict. */
export function watchSnippet(id: string, watcher: SnippetWatcher, { scope, tools, complete }: WatchTools): () => void {
  let isClosed = false
  const close = tools.engine.watch(scope.caller, id, {
    notify(operation) {
      const view = operation.instance === scope.instance ? tools.views.of(operation) : undefined
      if (view === undefined) {
        close()
        watcher.failed(noSnippet(id))
      } else if (operation.end === undefined) watcher.changed(view.status)
      else {
        complete(view).then(
          (status) => isClosed || watcher.changed(status),
          (error: unknown) => isClosed || watcher.failed(error instanceof Error ? error : new Error(String(error))),
        )
      }
    },
    failed: (error) => watcher.failed(error),
  })
  return () => {
    isClosed = true
    close()
  }
}

/** Waits until the operation has ended or the time is up, and only then builds the status. */
export async function waitFor(
  id: string,
  limit: WaitLimit,
  { scope, tools, complete }: WatchTools,
): Promise<SnippetStatus> {
  const operation = await lastOperation(id, limit, { scope, tools })
  const view = operation.instance === scope.instance ? tools.views.of(operation) : undefined
  if (view === undefined) throw noSnippet(id)
  return await complete(view)
}

function lastOperation(
  id: string,
  { ms, signal }: WaitLimit,
  { scope, tools }: Pick<WatchTools, 'scope' | 'tools'>,
): Promise<OperationStatus> {
  return new Promise((resolve, reject) => {
    let latest: OperationStatus | undefined
    let isUp = false
    const finish = (act: () => void): void => {
      close()
      cancelTimer()
      signal.removeEventListener('abort', timeUp)
      act()
    }
    // Before the first status there is nothing to return, so the first status becomes the answer.
    const timeUp = (): void => {
      isUp = true
      const operation = latest
      if (operation !== undefined) finish(() => resolve(operation))
    }
    const close = tools.engine.watch(scope.caller, id, {
      notify(operation) {
        latest = operation
        const isForeign = operation.instance !== scope.instance || operation.origin !== SNIPPET_ORIGIN
        if (isUp || isForeign || operation.end !== undefined) finish(() => resolve(operation))
      },
      failed: (error) => finish(() => reject(error)),
    })
    const cancelTimer = tools.clock.after(ms, timeUp)
    if (signal.aborted) timeUp()
    else signal.addEventListener('abort', timeUp)
  })
}

/** Sends the callback of an ended task. */
export interface EndCallbacks extends Pick<CallbackSender, 'due'> {
  /** Resolves when all tasks have ended that the callback reports. */
  ready(status: SnippetStatus): Promise<void>
}

/** Learns the run time from each end, and sends the callback. */
export function followEnds(tools: SnippetTools, callbacks: EndCallbacks | undefined) {
  const open = new Map<string, () => void>()
  const sendCallback = (status: SnippetStatus, { url }: SnippetCallback): void => {
    callbacks?.ready(status).then(
      () => callbacks.due(status.id, url),
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
    if (request.callback !== undefined) sendCallback(view.status, request.callback)
  }
  const follow = (operation: OperationStatus): void => {
    const id = operation.operation
    if (open.has(id)) return
    if (operation.end !== undefined) return ended(operation)
    const close = tools.engine.watch(LOCAL_CALLER, id, {
      endOnly: true,
      notify(now) {
        if (now.end === undefined) return
        open.delete(id)
        setImmediate(() => ended(now)) // the waiting request is answered first
      },
      failed() {
        open.delete(id)
        tools.views.release(id)
      },
    })
    open.set(id, close)
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
    close(): void {
      for (const close of open.values()) close()
      open.clear()
    },
  }
}
