import { FaultError } from '../../../base/fault.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import { parseOperationName } from '../../../wire/google/operations.ts'
import { ACTION_ORIGIN } from '../../../wire/tasks/task-spec.ts'

/** By the name that a client knows it by. Throws `absent`: then a client asks for the action once more. */
export async function findOperation(name: string, engine: Engine): Promise<OperationStatus> {
  const named = parseOperationName(name)
  const status = named && (await engine.find(LOCAL_CALLER, named.id))
  // Under the name of another tenant, or of what came by another door, there is nothing here.
  if (status === undefined || status.instance !== named?.instance || status.origin !== ACTION_ORIGIN) {
    throw new FaultError({ kind: 'absent', what: `no operation is named ${name.slice(0, 200)}` })
  }
  return status
}
