import { z } from 'zod'
import { INPUT_SIGNALS, type InputEvent, MOST_TERMINAL_LINES } from '../../../model/live-input.ts'
import { ApiProblem } from '../../../services/snippets/snippet-problem.ts'
import { checked } from '../../http/snippets/request.ts'
import { OUTPUT_FORMS, type OutputForm } from '../printed.ts'

const lines = z.number().int().min(1).max(MOST_TERMINAL_LINES)
const size = { rows: lines, columns: lines }

/** Fields of the first message beside those of a task. */
const startBody = z.looseObject({
  type: z.literal('start'),
  pty: z.union([z.strictObject(size), z.boolean()]).optional(),
  encoding: z.enum(OUTPUT_FORMS).optional(),
})

const inputBody = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('stdin'), data: z.string(), encoding: z.enum(['utf8', 'base64']).optional() }),
  z.strictObject({ type: z.literal('eof') }),
  z.strictObject({ type: z.literal('resize'), ...size }),
  z.strictObject({ type: z.literal('signal'), signal: z.enum(INPUT_SIGNALS) }),
])

const DEFAULT_SIZE = { rows: 24, columns: 80 } as const

export interface StartMessage {
  /** The fields of a task, still to be read. */
  readonly task: Readonly<Record<string, unknown>>
  readonly terminal: { readonly rows: number; readonly columns: number } | undefined
  readonly form: OutputForm
}

export function startMessage(text: string): StartMessage {
  const { type: _, pty, encoding = 'utf8', ...task } = checked(startBody, jsonIn(text))
  const terminal = pty === true ? DEFAULT_SIZE : pty === false ? undefined : pty
  return { task, terminal, form: encoding }
}

export function typedMessage(text: string): InputEvent {
  const message = checked(inputBody, jsonIn(text))
  switch (message.type) {
    case 'stdin':
      return { kind: 'bytes', bytes: Buffer.from(message.data, message.encoding ?? 'utf8') }
    case 'eof':
      return { kind: 'end' }
    case 'resize':
      return { kind: 'resize', size: { rows: message.rows, columns: message.columns } }
    case 'signal':
      return { kind: 'signal', signal: message.signal }
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiProblem('notJson', 'Text messages must be JSON objects; binary messages are standard input')
  }
}
