import { z } from 'zod'
import { STAGE_CAUSES } from '../../model/command-task.ts'

/**
 * What a worker says, in the words of the protocol: `heartbeat` and `result`, and two more that it may do without. Only
 * what is needed must be there, and what is not known is passed over: workers are written by others, in languages where
 * an empty list is null.
 */
const name = z
  .string()
  .max(200)
  .regex(/^[^\p{Cc}]+$/u, 'must have some characters, and none that control')
const taskId = z.string().min(1).max(300)
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
  success: z.boolean().nullish(),
  output: text,
  error: text,
  exitCode: z.int().nullish(),
  executionTime: z.union([z.string().max(50), z.number()]).nullish(),
  /** Ours: why it ended, where that is not to be seen from the exit code. */
  cause: z.enum(STAGE_CAUSES).nullish(),
})

const accepted = z.object({ type: z.literal('accepted'), taskId })

const output = z.object({
  type: z.literal('output'),
  taskId,
  stream: z.enum(['stdout', 'stderr']),
  data: z.string(),
  /** Where it begins in its stream, in bytes. */
  offset: z.int().nonnegative().nullish(),
})

const SCHEMAS = { heartbeat, result, accepted, output } as const

export type HeartbeatMessage = z.output<typeof heartbeat>
export type ResultMessage = z.output<typeof result>
export type OutputMessage = z.output<typeof output>
export type WorkerMessage = HeartbeatMessage | ResultMessage | z.output<typeof accepted> | OutputMessage

/** What a worker said that cannot be meant: its connection ends with the reason. */
export class UnreadableMessage extends Error {
  override readonly name = 'UnreadableMessage'
}

/** Undefined for a message of a type that is not known here. */
export function workerMessage(bytes: string): WorkerMessage | undefined {
  const said = parsed(bytes)
  if (typeof said !== 'object' || said === null || !('type' in said) || typeof said.type !== 'string')
    throw new UnreadableMessage('a message is a JSON object with a type')
  if (!Object.hasOwn(SCHEMAS, said.type)) return undefined
  const { data, error } = SCHEMAS[said.type as keyof typeof SCHEMAS].safeParse(said)
  if (error === undefined) return data
  const [issue] = error.issues
  throw new UnreadableMessage(`${said.type}.${issue?.path.join('.')}: ${issue?.message}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UnreadableMessage('a message is not JSON')
  }
}
