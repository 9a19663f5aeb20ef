import { INPUT_SIGNALS, type InputSignal } from '../../../model/live-input.ts'
import { PistonProblem } from '../../http/piston/problem.ts'

/** Close codes and reasons of Piston. */
export const CLOSE = {
  alreadyInitialized: [4000, 'Already Initialized'],
  initializationTimeout: [4001, 'Initialization Timeout'],
  notifiedError: [4002, 'Notified Error'],
  notInitialized: [4003, 'Not yet initialized'],
  onlyStdin: [4004, 'Can only write to stdin'],
  invalidSignal: [4005, 'Invalid signal'],
  completed: [4999, 'Job Completed'],
} as const satisfies Record<string, readonly [number, string]>
export type CloseReason = keyof typeof CLOSE

/**
 * Decodes a client message; undefined for messages that Piston ignores too. `eof` is ours: without it, input never
 * ends.
 */
export type ConnectMessage =
  | { readonly type: 'init'; readonly body: unknown }
  | { readonly type: 'data'; readonly stream: unknown; readonly data: unknown }
  | { readonly type: 'signal'; readonly signal: InputSignal | undefined }
  | { readonly type: 'eof' }

export function connectMessage(text: string): ConnectMessage | undefined {
  const message = objectIn(text)
  switch (message.type) {
    case 'init':
      return { type: 'init', body: message }
    case 'data':
      return { type: 'data', stream: message.stream, data: message.data }
    case 'signal':
      return { type: 'signal', signal: INPUT_SIGNALS.find((name) => name === message.signal) }
    case 'eof':
      return { type: 'eof' }
    default:
      return undefined
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const message: unknown = JSON.parse(text)
    if (typeof message === 'object' && message !== null) return message as Record<string, unknown>
  } catch {}
  throw new PistonProblem('Messages must be JSON objects')
}
