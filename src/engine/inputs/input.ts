import { invalid } from '../../base/fault.ts'
import { parseAttemptId } from '../../model/fencing.ts'
import { type InputEvent, isTerminalSize } from '../../model/live-input.ts'
import type { EngineState } from '../state/engine-state.ts'
import { currentTask } from '../tasks/current-task.ts'
import { absent, exhausted, shortened } from '../tasks/faults.ts'
import { isCancelled } from '../tasks/record-state.ts'
import type { WorkersAttempt } from '../workers/worker-session.ts'
import { lineOf, openLine, sendInput } from './send-inputs.ts'

/** That may be on its way to one task: a program that does not read holds up who types, not us. */
const MOST_BYTES = 1024 * 1024
const MOST_EVENTS = 4096
const RETRY_AFTER_MS = 1000

/** The bytes are copied. */
export function input(engine: EngineState, name: string, event: InputEvent): Promise<void> {
  const operation = engine.live.operations.get(name)
  if (operation === undefined) return Promise.reject(absent(`no open operation is named ${shortened(name)}`))
  const { task } = operation
  if (task.ending !== undefined || isCancelled(operation)) return Promise.resolve()
  if (event.kind === 'resize' && !isTerminalSize(event.size)) return Promise.reject(invalid('no terminal is so large'))
  const line = openLine(task)
  const size = event.kind === 'bytes' ? event.bytes.length : 0
  if (line.bytes + size > MOST_BYTES || line.waiting.length >= MOST_EVENTS)
    return Promise.reject(exhausted('input that the program has not read', RETRY_AFTER_MS))
  const kept: InputEvent = event.kind === 'bytes' ? { kind: 'bytes', bytes: new Uint8Array(event.bytes) } : event
  return new Promise((taken) => {
    const one = { number: ++line.numbers, event: kept, taken }
    line.waiting.push(one)
    line.bytes += size
    sendInput(engine, task, one)
  })
}

/** A worker's word for an attempt that does not count is nothing to us. */
export function inputTaken(engine: EngineState, { worker, attemptId }: WorkersAttempt, number: number): void {
  const task = currentTask(engine.live, worker, parseAttemptId(attemptId))
  const line = task && lineOf(task)
  if (line === undefined) return
  const left = line.waiting.findIndex((one) => one.number > number)
  const taken = line.waiting.splice(0, left < 0 ? line.waiting.length : left)
  for (const { event, taken: answer } of taken) {
    if (event.kind === 'bytes') line.bytes -= event.bytes.length
    answer()
  }
}
