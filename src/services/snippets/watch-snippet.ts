import { FaultError } from '../../base/fault.ts'
import { isOver, type SnippetStatus } from '../../model/snippet.ts'
import type { CallScope } from '../instances/call-scope.ts'
import type { SnippetService, SnippetWatcher } from './snippet-service.ts'
import type { SnippetView } from './snippet-status.ts'
import type { SnippetTools } from './snippet-tools.ts'

export const noSnippet = (id: string): FaultError =>
  new FaultError({ kind: 'absent', what: `no task is named ${id.slice(0, 200)}` })

/** How a status becomes one that can be told: with its verdict. */
export interface Completing {
  readonly tools: SnippetTools
  readonly complete: (view: SnippetView) => Promise<SnippetStatus>
}

interface Watching extends Completing {
  readonly scope: CallScope
}

export function watchSnippet(id: string, watcher: SnippetWatcher, { scope, tools, complete }: Watching): () => void {
  let isEnded = false
  const end = tools.engine.watch(scope.caller, id, {
    told(operation) {
      const view = operation.instance === scope.instance ? tools.views.of(operation) : undefined
      if (view === undefined) {
        end()
        watcher.failed(noSnippet(id))
      } else if (operation.end === undefined) watcher.told(view.status)
      else {
        complete(view).then(
          (status) => isEnded || watcher.told(status),
          (error: unknown) => isEnded || watcher.failed(error instanceof Error ? error : new Error(String(error))),
        )
      }
    },
    failed: (error) => watcher.failed(error),
  })
  return () => {
    isEnded = true
    end()
  }
}

interface Waiting {
  readonly ms: number
  readonly signal: AbortSignal
  readonly scope: CallScope
  readonly clock: SnippetTools['clock']
  readonly watch: SnippetService['watch']
}

export function waitFor(id: string, { ms, signal, scope, clock, watch }: Waiting): Promise<SnippetStatus> {
  return new Promise((resolve, reject) => {
    let latest: SnippetStatus | undefined
    let isUp = false
    const finish = (act: () => void): void => {
      stop()
      takeBack()
      signal.removeEventListener('abort', timeUp)
      act()
    }
    // Before the first status there is nothing to return: then that status is the answer.
    const timeUp = (): void => {
      isUp = true
      const status = latest
      if (status !== undefined) finish(() => resolve(status))
    }
    const stop = watch(scope, id, {
      told(status) {
        latest = status
        if (isUp || isOver(status)) finish(() => resolve(status))
      },
      failed: (error) => finish(() => reject(error)),
    })
    const takeBack = clock.after(ms, timeUp)
    if (signal.aborted) timeUp()
    else signal.addEventListener('abort', timeUp)
  })
}
