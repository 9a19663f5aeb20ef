import { FaultError } from '../../../base/fault.ts'
import type { TaskLease } from '../../../engine/workers/worker-session.ts'
import type { Limits } from '../../../model/command.ts'
import { COMMAND_ORIGINS } from '../../../model/command-task.ts'
import { LANGUAGE_PROPERTY } from '../../../model/language.ts'
import { commandTaskFromProto } from '../../../wire/tasks/command-task.ts'
import { durationText } from '../../amount-text.ts'

/** The data of a task that its result message lacks. */
export interface GivenTask {
  /** The id that REST returns. */
  readonly taskId: string
  readonly attemptId: string
  readonly attempt: number
  /** The name of the run stage; a worker of this protocol compiles by itself, and does not report it. */
  readonly limits: Limits
  /** On the monotonic clock. */
  readonly sentAt: number
  /** The task was cancelled: its result is dropped. */
  isCancelled: boolean
  /** Set while the server waits for the worker to correct an unreadable result; stops the waiting. */
  giveUpCorrection?: () => void
}

export interface ExecuteMessage {
  readonly type: 'execute'
  readonly taskId: string
  readonly language: string
  readonly code: string
  readonly resourceLimit: { readonly timeout?: string; readonly memory?: string; readonly cpu?: string }
  /**
   * Our extension: a worker may echo one of them, or both, in its messages about the task, to name the attempt that it
   * means.
   */
  readonly attempt: number
  readonly fencing: string
}

/** Throws for a task that the protocol cannot express. */
export function executeMessage(lease: TaskLease): { readonly message: ExecuteMessage; readonly limits: Limits } {
  const { attemptId, attempt, operation, origin, spec } = lease
  if (!COMMAND_ORIGINS.some((one) => one === origin)) throw notForThese(`a task from ${origin}`)
  const { platform, inputs, stages } = commandTaskFromProto(spec)
  const language = platform.find(({ name }) => name === LANGUAGE_PROPERTY)?.value.split('@', 1)[0]
  const [file, ...more] = inputs.files
  const limits = stages.at(-1)?.limits ?? {}
  if (language === undefined || file === undefined || more.length > 0) throw notForThese('more than code in a language')
  const message: ExecuteMessage = {
    type: 'execute',
    taskId: operation,
    language,
    code: Buffer.from(file.contents).toString(),
    resourceLimit: {
      ...(limits.wallMs !== undefined && { timeout: durationText(limits.wallMs) }),
      ...(limits.memoryBytes !== undefined && { memory: megabytes(limits.memoryBytes) }),
      ...(limits.cpus !== undefined && { cpu: limits.cpus.toFixed(1) }),
    },
    attempt,
    fencing: attemptId.slice(attemptId.lastIndexOf('.') + 1),
  }
  return { message, limits }
}

/** Whole numbers, as in the protocol: readers may not accept fractions. */
const megabytes = (bytes: number): string => `${Math.max(1, Math.floor(bytes / 1e6))}MB`

/** The scheduler does not assign such tasks to the worker. If it happens, another worker is tried. */
const notForThese = (what: string): FaultError =>
  new FaultError({ kind: 'unavailable', what: `a worker that runs snippets only was given ${what}` })
