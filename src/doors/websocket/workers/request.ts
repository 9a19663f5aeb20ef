import { z } from 'zod'
import { STAGE_CAUSES } from '../../../model/command-task.ts'

/**
 * The messages of a worker: `heartbeat` and `result`, and two more that it may do without. Only what is needed must be
 * there, and what is not known is passed over: workers are written by others, in languages where an empty list is null.
 */
const name = z
  .string()
  .max(200)
  .regex(/^[^\p{Cc}]+$/u, 'must have some characters, and none that control')
const taskId = z.string().min(1).max(300)
/** Ours: of the `execute` message, echoed. */
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
  /** Ours: how it sees itself. `draining` is a wish to be given no more. */
  status: z.string().max(50).nullish(),
  /** Ours: the ids of all that it runs. */
  running: z.array(taskId).max(10_000).nullish(),
  /** Ours: which words that the protocol does not have it understands. */
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
  /** Ours: why it ended, where that is not to be seen from the exit code. */
  cause: z.enum(STAGE_CAUSES).nullish(),
})

const accepted = z.object({ type: z.literal('accepted'), taskId, ...label })

const output = z.object({
  type: z.literal('output'),
  taskId,
  ...label,
  stream: z.enum(['stdout', 'stderr']),
  data: z.string(),
  /** Where it begins in its stream, in bytes. */
  offset: z.int().nonnegative().nullish(),
})

const SCHEMAS = { heartbeat, result, accepted, output } as const

export type SocketHeartbeat = z.output<typeof heartbeat>
export type ResultMessage = z.output<typeof result>
export type OutputMessage = z.output<typeof output>
export type WorkerMessage = SocketHeartbeat | ResultMessage | z.output<typeof accepted> | OutputMessage

/** An unreadable message: its connection ends with the reason. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage'
}

/** A field of a message has the wrong type. The worker is answered, and its connection goes on. */
export interface MistypedField {
  /** The type of the message; undefined when that is the field. */
  readonly refused: string | undefined
  readonly taskId: string | undefined
  /** `load.cpuUsage` */
  readonly field: string
  readonly message: string
}

export interface ReadMessage {
  /** Undefined for a type that is not known here, and for a message that cannot be used without the field. */
  readonly message: WorkerMessage | undefined
  readonly mistyped: MistypedField | undefined
}

/** A heartbeat proves that its worker lives, so it counts without a mistyped field; all else would change its meaning. */
const NEEDED_OF_HEARTBEAT = ['clientId', 'type']

export function workerMessage(bytes: string): ReadMessage {
  const said = parsed(bytes)
  if (typeof said !== 'object' || said === null || Array.isArray(said) || !('type' in said))
    throw new UnreadableMessage('a message is a JSON object with a type')
  const { type } = said
  if (typeof type !== 'string') return { message: undefined, mistyped: mistypedType }
  if (!Object.hasOwn(SCHEMAS, type)) return { message: undefined, mistyped: undefined }
  const schema = SCHEMAS[type as keyof typeof SCHEMAS]
  const { data, error } = schema.safeParse(said)
  if (error === undefined) return { message: data, mistyped: undefined }
  const fields = error.issues.map(({ path }) => fieldIn(path))
  const mistyped = mistypedIn(said, { type, field: fields[0] ?? '', problem: error.issues[0]?.message })
  if (type !== 'heartbeat' || fields.some((field) => NEEDED_OF_HEARTBEAT.includes(field)))
    return { message: undefined, mistyped }
  return { message: heartbeat.safeParse(without(said, fields)).data, mistyped }
}

const mistypedType: MistypedField = {
  refused: undefined,
  taskId: undefined,
  field: 'type',
  message: 'type: must be a string',
}

/** Within `load` each field counts for itself. */
const fieldIn = ([name, inner]: readonly PropertyKey[]): string =>
  name === 'load' && inner !== undefined ? `load.${String(inner)}` : String(name)

interface Problem {
  readonly type: string
  readonly field: string
  readonly problem: string | undefined
}

const mistypedIn = (said: object, { type, field, problem }: Problem): MistypedField => ({
  refused: type,
  taskId: 'taskId' in said && typeof said.taskId === 'string' ? said.taskId.slice(0, 300) : undefined,
  field,
  message: `${type}.${field}: ${problem}`,
})

function without(said: object, fields: readonly string[]): object {
  const left = new Map(Object.entries(said).filter(([name]) => !fields.includes(name)))
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
