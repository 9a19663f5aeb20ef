import { z } from 'zod'
import { STAGE_CAUSES } from '../../../model/command-task.ts'
import { SNIPPET_STATES, VERDICTS } from '../../../model/snippet.ts'
import { DELIVERY_ENDS } from '../../../services/snippets/callbacks/delivery-log.ts'

/**
 * The answers of the API, inside the envelope's `data`. The OpenAPI document is generated from these, and tests check
 * answers against them.
 */

const duration = z.string().describe('Seconds, as in "1.2s".')
const time = z.iso.datetime().describe('UTC, to the millisecond.')
const state = z.enum(SNIPPET_STATES).describe('The final states are completed, failed, timeout and cancelled.')
const taskId = z.string().describe('Letters, digits and one underscore.')

const gap = z.object({
  at: z.number().int().describe('The offset in the remaining output, in bytes, at which the dropped bytes were.'),
  bytes: z.number().int(),
})

const stageAnswer = z.object({
  name: z.string().describe('compile or run.'),
  cause: z.enum(STAGE_CAUSES).describe('How the stage ended; ok for exit code 0.'),
  exitCode: z.number().int(),
  signal: z.string().optional(),
  reason: z.string().optional(),
  output: z.string().describe('Standard output.'),
  error: z.string().describe('Standard error.'),
  truncated: z.boolean().describe('True when output and error lack a part of what the program printed.'),
  dropped: z
    .object({ output: gap.optional(), error: gap.optional() })
    .optional()
    .describe('How many bytes exceeded the output limit and were dropped from the middle, and where.'),
  executionTime: duration,
  cached: z
    .boolean()
    .optional()
    .describe('The stage did not run: its files are from the cached result of an earlier run.'),
  cpuTime: duration.optional(),
  memory: z.number().int().optional().describe('Peak memory, in bytes.'),
})

const resultAnswer = z.object({
  output: z.string().describe('Standard output of the last stage that ran.'),
  error: z.string().describe('Its standard error.'),
  exitCode: z.number().int(),
  executionTime: duration,
  truncated: z.boolean(),
  stages: z.array(stageAnswer),
})

const failureAnswer = z.object({
  code: z
    .number()
    .int()
    .optional()
    .describe('A code from the table of codes, if one applies: 50301 when no worker connected in time.'),
  message: z.string().describe('The reason, as text.'),
})

export const taskAnswerForm = z.object({
  taskId,
  status: state,
  language: z.string(),
  version: z.string().optional(),
  result: resultAnswer.optional(),
  verdict: z.enum(VERDICTS).optional().describe('For a finished task that has expectedOutput.'),
  failure: failureAnswer.optional().describe('For a task that ended in failed, timeout or cancelled.'),
  timestamps: z.object({
    createdAt: time,
    submittedAt: time.optional(),
    startedAt: time.optional(),
    completedAt: time.optional(),
  }),
  assignedClient: z.string().optional().describe('The worker that runs the task, or ran it last.'),
  attempt: z
    .number()
    .int()
    .describe('How often the task was started: more than once when the grid failed and retried it.'),
  cached: z.boolean().describe('The result is from the cache: the same task ran before.'),
  artifacts: z
    .array(z.object({ path: z.string(), size: z.number().int(), sha256: z.string().optional() }))
    .optional()
    .describe('The requested output files, for download at …/artifacts/{path}.'),
  metadata: z.record(z.string(), z.string()),
})
export type TaskAnswer = z.infer<typeof taskAnswerForm>

export const submittedAnswer = z.object({
  taskId,
  status: state,
  estimatedTime: duration.describe('How long recent runs of the same code took.'),
})
export type SubmittedAnswer = z.infer<typeof submittedAnswer>
export const listAnswer = z.object({ tasks: z.array(taskAnswerForm), nextCursor: z.string().optional() })
export type ListAnswer = z.infer<typeof listAnswer>
export const whyAnswer = z.object({ taskId, status: state, reasons: z.array(z.string()) })
export const batchAnswer = z.object({
  tasks: z
    .array(
      z.object({
        code: z.number().int(),
        message: z.string(),
        detail: z.string().optional(),
        retryAfter: z.number().optional(),
        data: submittedAnswer.optional(),
      }),
    )
    .describe('One entry per task, in the order of the request; code 0 means accepted.'),
})
export const languagesAnswer = z.object({
  languages: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      aliases: z.array(z.string()),
      versions: z.array(z.string()).describe('The newest first.'),
      fileName: z.string(),
      compiled: z.boolean(),
    }),
  ),
})
export type LanguagesAnswer = z.infer<typeof languagesAnswer>

export const deliveriesAnswer = z.object({
  state: z.enum(['pending', ...DELIVERY_ENDS]),
  tries: z.array(
    z.object({
      at: time,
      executionTime: duration,
      status: z.number().int().optional(),
      problem: z.string().optional(),
    }),
  ),
})
