/**
 * Inputs to a task while it runs. Each input is kept until the worker acknowledges that it has reached the program,
 * because the connection may break before that. On a new session all kept inputs are sent again, and the worker ignores
 * those whose numbers it has.
 */
import { invalid } from '../base/fault.ts'
import { type InputEvent, isTerminalSize } from '../model/live-input.ts'
import type { EngineState } from './engine-state.ts'
import { absent, exhausted, shortened } from './tasks/faults.ts'
import type { InputQueue, WaitingInput } from './tasks/live-parts.ts'
import type { LiveTask } from './tasks/live-task.ts'
import { isCancelled } from './tasks/record-state.ts'
import { callSession } from './workers/worker-links.ts'

/** Limits of unacknowledged input per task. Beyond them the client has to wait for the program to read. */
const MOST_BYTES = 1024 * 1024
const MOST_EVENTS = 4096
const RETRY_AFTER_MS = 1000

/** Copies the bytes. */
export function input(engine: EngineState, name: string, event: InputEvent): Promise<void> {
  const operation = engine.live.operations.get(name)
  if (operation === undefined) return Promise.reject(absent(`no open operation is named ${shortened(name)}`))
  const { task } = operation
  if (task.ending !== undefined || isCancelled(operation)) return Promise.resolve()
  if (event.kind === 'resize' && !isTerminalSize(event.size))
    return Promise.reject(invalid('the terminal size is out of range'))
  task.inputs ??= { waiting: [], bytes: 0, newest: 0 }
  const queue = task.inputs
  const size = event.kind === 'bytes' ? event.bytes.length : 0
  if (queue.bytes + size > MOST_BYTES || queue.waiting.length >= MOST_EVENTS)
    return Promise.reject(exhausted('input that the program has not read', RETRY_AFTER_MS))
  const kept: InputEvent = event.kind === 'bytes' ? { kind: 'bytes', bytes: new Uint8Array(event.bytes) } : event
  return new Promise((resolve) => {
    const one = { number: ++queue.newest, event: kept, resolve }
    queue.waiting.push(one)
    queue.bytes += size
    sendInput(engine, task, one)
  })
}

/** Sends all inputs, because the task was started or its worker has reconnected. */
export function sendInputs(engine: EngineState, task: LiveTask): void {
  for (const one of task.inputs?.waiting ?? []) sendInput(engine, task, one)
}

/** A task that does not run yet gets its inputs when the worker reports the start. */
function sendInput(engine: EngineState, task: LiveTask, { number, event }: WaitingInput): void {
  const { worker, attemptId } = task
  if (task.state !== 'running' || worker === undefined || attemptId === undefined) return
  const session = engine.links.find(worker)?.session
  callSession(engine.log, () => session?.input?.(attemptId, { number, event }))
}

/** The inputs up to this number have reached the program. */
export function acknowledgeInputs(queue: InputQueue, number: number): void {
  const left = queue.waiting.findIndex((one) => one.number > number)
  const taken = queue.waiting.splice(0, left < 0 ? queue.waiting.length : left)
  for (const { event, resolve } of taken) {
    if (event.kind === 'bytes') queue.bytes -= event.bytes.length
    resolve()
  }
}
