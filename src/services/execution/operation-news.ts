import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Engine } from '../../engine/engine.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'

/** How an operation fares, for one who takes it at his own pace: what he was too slow for is not kept. */
export interface OperationNews extends Disposable {
  /** The next change, or undefined when none came in `ms`. Rejects when nothing more can be known. */
  next(ms: number): Promise<OperationStatus | undefined>
}

export interface NewsTools {
  readonly engine: Engine
  readonly clock: Clock
}

/** Ends with the signal; leaving is no cancel, and the operation can be watched again. */
export function operationNews(operation: string, { engine, clock }: NewsTools, signal: AbortSignal): OperationNews {
  let newest: OperationStatus | undefined
  let failure: FaultError | undefined
  let wake: () => void = () => {}
  const fail = (error: FaultError): void => {
    failure ??= error
    wake()
  }
  const unwatch = engine.watch(LOCAL_CALLER, operation, {
    told(status) {
      newest = status
      wake()
    },
    failed: fail,
  })
  const leave = (): void => fail(new FaultError({ kind: 'cancelled', what: 'the client left' }))
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  const isQuiet = (): boolean => newest === undefined && failure === undefined
  return {
    async next(ms) {
      if (isQuiet()) {
        await new Promise<void>((resolve) => {
          const stop = clock.after(ms, resolve)
          wake = () => {
            stop()
            resolve()
          }
        })
      }
      const status = newest
      newest = undefined
      if (status === undefined && failure !== undefined) throw failure
      return status
    },
    [Symbol.dispose]() {
      signal.removeEventListener('abort', leave)
      unwatch()
    },
  }
}
