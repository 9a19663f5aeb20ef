import { z } from 'zod'
import { STAGE_CAUSES } from '../../../model/command-task.ts'

/**
 * The messages of a worker: `heartbeat`, `result` and two optional ones. Only necessary fields are required, and
 * unknown fields are ignored: other people write workers, some in languages that encode an empty list as null.
 */
const name = z
  .string()
  .max(200)
  .regex(/^[^\p{Cc}]+$/u, 'must not be empty or contain control characters')
const taskId = z.string().min(1).max(300)
/** Our extension: the value of the `execute` message, which the worker echoes. */
const label = { attempt: z.int().nullish(), fencing: z.string().max(50).nullish() }
const text = z.string().nullish()
const amount = z.number().nonnegative().nullish()

const heartbeat = z.object({
  type: z.literal('heartbeat'),
  clientId: name,
  load: z
    .object({ currentTasks: amount, maxConcurrent: amount, cpuUsage: amount, memoryUsage: amount })
    .nullish()
    .transform((load) => load ?? undefined),
  capabilities: z.array(name.max(100)).max(200).nullish(),
  /** An extension: the state that the worker reports. `draining`: it accepts no more tasks. */
  status: z.string().max(50).nullish(),
  /** Our extension: the ids of all tasks that the worker runs. */
  running: z.array(taskId).max(10_000).nullish(),
  /** Our extension: the extensions of the protocol that the worker supports. */
  extensions: z.array(z.string().max(50)).max(50).nullish(),
})

const result = z.object({
  type: z.literal('result'),
  taskId,
  ...label,
  success: z.boolean().nullish(),
  output: text,
  error: text,
  exitCode: z.int().nullish(),
  executionTime: z.union([z.string().max(50), z.number()]).nullish(),
  /** Our extension: the cause of the end, where the exit code does not show it. */
  cause: z.enum(STAGE_CAUSES).nullish(),
})

const accepted = z.object({ type: z.literal('accepted'), taskId, ...label })

const output = z.object({
  type: z.literal('output'),
  taskId,
  ...label,
  stream: z.enum(['stdout', 'stderr']),
  data: z.string(),
  /** Offset of the piece in its stream, in bytes. */
  offset: z.int().nonnegative().nullish(),
})

const SCHEMAS = { heartbeat, result, accepted, output } as const

export type SocketHeartbeat = z.output<typeof heartbeat>
export type ResultMessage = z.output<typeof result>
export type OutputMessage = z.output<typeof output>
export type WorkerMessage = SocketHeartbeat | ResultMessage | z.output<typeof accepted> | OutputMessage

/** A message that cannot be decoded: the connection is closed with the reason. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage'
}

/** A field of a message has the wrong type. The server answers the worker, and the connection stays open. */
export interface MistypedField {
  /** The type of the message; undefined when the type field itself is wrong. */
  readonly refused: string | undefined
  readonly taskId: string | undefined
  /** `load.cpuUsage` */
  readonly field: string
  readonly message: string
}

export interface ReadMessage {
  /** Undefined for an unknown type, and for a message that cannot be used without the field. */
  readonly message: WorkerMessage | undefined
  readonly mistyped: MistypedField | undefined
}

/**
 * A heartbeat proves that its worker is alive, so it is accepted without the mistyped field. Other messages would
 * change their meaning.
 */
const NEEDED_OF_HEARTBEAT = ['clientId', 'type']

export function workerMessage(bytes: string): ReadMessage {
  const sent = parsed(bytes)
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent) || !('type' in sent))
    throw new UnreadableMessage('a message is a JSON object with a type')
  const { type } = sent
  if (typeof type !== 'string') return { message: undefined, mistyped: mistypedType }
  if (!Object.hasOwn(SCHEMAS, type)) return { message: undefined, mistyped: undefined }
  const schema = SCHEMAS[type as keyof typeof SCHEMAS]
  const { data, error } = schema.safeParse(sent)
  if (error === undefined) return { message: data, mistyped: undefined }
  const fields = error.issues.map(({ path }) => fieldIn(path))
  const mistyped = mistypedIn(sent, { type, field: fields[0] ?? '', problem: error.issues[0]?.message })
  if (type !== 'heartbeat' || fields.some((field) => NEEDED_OF_HEARTBEAT.includes(field)))
    return { message: undefined, mistyped }
  return { message: heartbeat.safeParse(without(sent, fields)).data, mistyped }
}

const mistypedType: MistypedField = {
  refused: undefined,
  taskId: undefined,
  field: 'type',
  message: 'type: must be a string',
}

/** Within `load` each field is reported by its own name. */
const fieldIn = ([name, inner]: readonly PropertyKey[]): string =>
  name === 'load' && inner !== undefined ? `load.${String(inner)}` : String(name)

interface Problem {
  readonly type: string
  readonly field: string
  readonly problem: string | undefined
}

const mistypedIn = (sent: object, { type, field, problem }: Problem): MistypedField => ({
  refused: type,
  taskId: 'taskId' in sent && typeof sent.taskId === 'string' ? sent.taskId.slice(0, 300) : undefined,
  field,
  message: `${type}.${field}: ${problem}`,
})

function without(sent: object, fields: readonly string[]): object {
  const left = new Map(Object.entries(sent).filter(([name]) => !fields.includes(name)))
  const load: unknown = left.get('load')
  if (typeof load === 'object' && load !== null)
    left.set('load', Object.fromEntries(Object.entries(load).filter(([name]) => !fields.includes(`load.${name}`))))
  return Object.fromEntries(left)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnreadableMessage('a message is not JSON')
  }
}
