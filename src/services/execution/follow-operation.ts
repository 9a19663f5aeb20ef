import type { Clock } from '../../base/clock.ts'
import { FaultError } from '../../base/fault.ts'
import type { Engine } from '../../engine/engine.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { Caller } from '../../model/caller.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import { parseOperationName } from '../../wire/reapi/operation-name.ts'
import { ACTION_ORIGIN } from '../../wire/tasks/task-spec.ts'

/** Finds an execution by its operation name. Throws `absent`: the client then sends the action again. */
export async function findOperation(name: string, engine: Engine, caller: Caller): Promise<OperationStatus> {
  const named = parseOperationName(name)
  const status = named && (await engine.find(caller, named.id))
  // An operation of another instance, or of another door, counts as absent.
  if (status === undefined || status.instance !== named?.instance || status.origin !== ACTION_ORIGIN) {
    throw new FaultError({ kind: 'absent', what: `no operation is named ${name.slice(0, 200)}` })
  }
  return status
}

/** The changes of an operation. A slow reader gets the newest status and skips those before it. */
export interface OperationChanges extends Disposable {
  /**
   * Resolves with the next change, or with undefined when there was none for `ms`. Rejects when the operation can no
   * longer be watched.
   */
  next(ms: number): Promise<OperationStatus | undefined>
}

export interface WatchTools {
  readonly engine: Engine
  readonly clock: Clock
}

/**
 * Watches an operation until the signal aborts. The abort does not cancel the operation, and a client can watch it
 * again. The first change is relative to the status that the caller passes.
 */
export function watchOperation(
  known: OperationStatus,
  { engine, clock }: WatchTools,
  signal: AbortSignal,
): OperationChanges {
  let newest: OperationStatus | undefined
  let failure: FaultError | undefined
  let wake: () => void = () => {}
  const fail = (error: FaultError): void => {
    failure ??= error
    wake()
  }
  const unwatch = engine.watch(LOCAL_CALLER, known.operation, {
    known,
    notify(status) {
      newest = status
      wake()
    },
    failed: fail,
  })
  const leave = (): void => fail(new FaultError({ kind: 'cancelled', what: 'the client left' }))
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  const isUnchanged = (): boolean => newest === undefined && failure === undefined
  return {
    async next(ms) {
      if (isUnchanged()) {
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
