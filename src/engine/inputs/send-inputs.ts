/**
 * What somebody does to a task while it runs, on its way to the worker. Each thing is kept until the worker says that it
 * has reached the program, for the way there may break in between: on a new session all of it is sent again, and the
 * worker knows by the numbers what it has. Few tasks are typed to, so nothing of this is in the tasks themselves.
 */

import type { InputEvent } from '../../model/live-input.ts'
import type { EngineState } from '../state/engine-state.ts'
import { guarded } from '../tasks/guarded.ts'
import type { LiveTask } from '../tasks/live-task.ts'

export interface InputLine {
  /** In order; the oldest first. */
  waiting: WaitingInput[]
  bytes: number
  numbers: number
}

export interface WaitingInput {
  readonly number: number
  readonly event: InputEvent
  /** It has reached the program, or there is nothing more to reach. */
  taken(): void
}

const lines = new WeakMap<LiveTask, InputLine>()

export const lineOf = (task: LiveTask): InputLine | undefined => lines.get(task)

export function openLine(task: LiveTask): InputLine {
  const line = lines.get(task) ?? { waiting: [], bytes: 0, numbers: 0 }
  lines.set(task, line)
  return line
}

/** The task runs, perhaps again as far as its worker can tell. */
export function sendInputs(engine: EngineState, task: LiveTask): void {
  for (const one of lines.get(task)?.waiting ?? []) sendInput(engine, task, one)
}

/** To a task that does not run yet nothing is sent: its worker will say when it does. */
export function sendInput(engine: EngineState, task: LiveTask, { number, event }: WaitingInput): void {
  const { worker, attemptId } = task
  if (task.state !== 'running' || worker === undefined || attemptId === undefined) return
  const session = engine.links.find(worker)?.session
  guarded(engine.log, () => session?.input?.(attemptId, { number, event }))
}

/** Closes the task's inputs and resolves every call that waits for one. */
export function endInputs(task: LiveTask): void {
  const line = lines.get(task)
  lines.delete(task)
  for (const { taken } of line?.waiting ?? []) taken()
}
