import { FaultError } from '../../base/fault.ts'
import type { Engine } from '../../engine/engine.ts'
import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { Caller } from '../../model/caller.ts'
import { parseOperationName } from '../../wire/google/operations.ts'
import { ACTION_ORIGIN } from '../../wire/tasks/task-spec.ts'

/** Finds an execution by the name that its client has. Throws `absent`: the client then sends the action again. */
export async function findOperation(name: string, engine: Engine, caller: Caller): Promise<OperationStatus> {
  const named = parseOperationName(name)
  const status = named && (await engine.find(caller, named.id))
  // The name of another instance's operation, or of a task of another door, is as good as unknown.
  if (status === undefined || status.instance !== named?.instance || status.origin !== ACTION_ORIGIN) {
    throw new FaultError({ kind: 'absent', what: `no operation is named ${name.slice(0, 200)}` })
  }
  return status
}
