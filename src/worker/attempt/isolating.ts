import { FaultError } from '../../base/fault.ts'
import type { CommandTask } from '../../model/command-task.ts'
import { type IsolationLevel, isolatesAs } from '../../model/isolation.ts'
import type { RuntimeName } from '../../runtimes/run/runtime.ts'
import type { Executor } from './executor.ts'

export interface IsolatingOptions {
  readonly runtime: { readonly name: RuntimeName }
  /** The isolation of this worker's rooms, as the runtime found it at the start; by the runtime's name when left out. */
  readonly isolation?: IsolationLevel | undefined
}

/** Refuses a task that asks for more isolation than the rooms of this worker have. */
export const isolating = (inner: Executor, { runtime, isolation }: IsolatingOptions): Executor => ({
  async execute(attempt, signal) {
    mustIsolate(attempt.task, isolation ?? ISOLATION_OF[runtime.name], runtime.name)
    return await inner.execute(attempt, signal)
  },
})

const ISOLATION_OF: Readonly<Record<RuntimeName, IsolationLevel>> = {
  bare: 'none',
  unshare: 'namespaces',
  sandbox: 'sandbox',
  docker: 'container',
  apptainer: 'container',
}

/** The scheduler matches the level by a property; this check covers a task that was assigned here by mistake. */
function mustIsolate({ isolation, places = [] }: CommandTask, here: IsolationLevel, runtime: RuntimeName): void {
  if (!isolatesAs(here, isolation))
    throw new FaultError({
      kind: 'unavailable',
      what: `a task asks for a room with isolation ${isolation}, and here it is ${here}`,
    })
  if (places.length > 0 && runtime !== 'docker')
    throw new FaultError({ kind: 'unavailable', what: `a room of ${runtime} is shown in one place only` })
}
