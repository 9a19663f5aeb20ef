import { invalid } from '../../base/fault.ts'
import { INPUT_SIGNALS, type InputEvent, isTerminalSize } from '../../model/live-input.ts'
import type { Input } from '../gen/windlass/worker/v1/worker.ts'
import type { Shape } from '../messages/well-formed.ts'

/** Live input of an attempt, from the server to the worker. */
export interface InputMessage {
  readonly attemptId: string
  /** The number of the input within its task, from 1. */
  readonly number: number
  /** Undefined for a kind of input that only newer servers have; the worker ignores it. */
  readonly event: InputEvent | undefined
}

export const INPUT_SHAPE: Shape = {
  1: 'text',
  2: 'number',
  3: 'bytes',
  4: {},
  5: { 1: 'number', 2: 'number' },
  6: 'text',
}
export const INPUT_TAKEN_SHAPE: Shape = { 1: 'text', 2: 'number' }

export const inputMessage = ({ attemptId, number, event }: InputMessage): Input => ({
  taskId: attemptId,
  number,
  ...(event && eventMessage(event)),
})

function eventMessage(event: InputEvent): Partial<Input> {
  switch (event.kind) {
    case 'bytes':
      return { data: event.bytes }
    case 'end':
      return { end: {} }
    case 'resize':
      return { resize: event.size }
    case 'signal':
      return { signal: event.signal }
  }
}

export const inputOf = (input: Input): InputMessage => ({
  attemptId: input.taskId,
  number: mustBeNumber(input.number),
  event: eventOf(input),
})

function eventOf({ data, end, resize, signal }: Input): InputEvent | undefined {
  if (data !== undefined) return { kind: 'bytes', bytes: data }
  if (end !== undefined) return { kind: 'end' }
  if (resize !== undefined && isTerminalSize(resize)) return { kind: 'resize', size: resize }
  const known = INPUT_SIGNALS.find((each) => each === signal)
  return known && { kind: 'signal', signal: known }
}

export function mustBeNumber(number: number): number {
  if (number < 1) throw invalid('input is numbered from 1 on', 'range')
  return number
}
