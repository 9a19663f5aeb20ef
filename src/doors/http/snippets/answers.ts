import { z } from 'zod'
import { STAGE_CAUSES } from '../../../model/command-task.ts'
import { SNIPPET_STATES, VERDICTS } from '../../../model/snippet.ts'
import { DELIVERY_ENDS } from '../../../services/snippets/callbacks/delivery-log.ts'

/**
 * The answers of the API, inside the envelope's `data`. The OpenAPI document is made from these, and tests hold answers
 * to them.
 */

const duration = z.string().describe('Seconds, as in "1.2s".')
const time = z.iso.datetime().describe('UTC, to the millisecond.')
const state = z.enum(SNIPPET_STATES).describe('Final are completed, failed, timeout and cancelled.')
const taskId = z.string().describe('Letters, digits and one underscore.')

const gap = z.object({
  at: z.number().int().describe('After so many bytes of what is left.'),
  bytes: z.number().int(),
})

const stageAnswer = z.object({
  name: z.string().describe('compile or run.'),
  cause: z.enum(STAGE_CAUSES).describe('How it ended; ok for an exit with 0.'),
  exitCode: z.number().int(),
  signal: z.string().optional(),
  reason: z.string().optional(),
  output: z.string().describe('Standard output.'),
  error: z.string().describe('Standard error.'),
  truncated: z.boolean().describe('Not all that it printed is in output and error.'),
  dropped: z
    .object({ output: gap.optional(), error: gap.optional() })
    .optional()
    .describe('What was printed beyond its limit, and is gone: from the middle, where it was.'),
  executionTime: duration,
  cached: z.boolean().optional().describe('It was not run: what it made was there from an earlier run.'),
  cpuTime: duration.optional(),
  memory: z.number().int().optional().describe('Bytes, at its peak.'),
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
  code: z.number().int().optional().describe('From the table of codes, where it has one: 50301 when no worker came.'),
  message: z.string().describe('Why it ended so, in words.'),
})

export const taskAnswerForm = z.object({
  taskId,
  status: state,
  language: z.string(),
  version: z.string().optional(),
  result: resultAnswer.optional(),
  verdict: z.enum(VERDICTS).optional().describe('Of a task with expectedOutput, once it is over.'),
  failure: failureAnswer.optional().describe('Of one that is over without having completed.'),
  timestamps: z.object({
    createdAt: time,
    submittedAt: time.optional(),
    startedAt: time.optional(),
    completedAt: time.optional(),
  }),
  assignedClient: z.string().optional().describe('The worker that has it, or had it last.'),
  attempt: z.number().int().describe('How often it was started: more than once after a fault of the grid.'),
  cached: z.boolean().describe('The result is that of the same task before.'),
  artifacts: z
    .array(z.object({ path: z.string(), size: z.number().int(), sha256: z.string().optional() }))
    .optional()
    .describe('Outputs that were asked for, to be had at …/artifacts/{path}.'),
  metadata: z.record(z.string(), z.string()),
})
export type TaskAnswer = z.infer<typeof taskAnswerForm>

export const submittedAnswer = z.object({
  taskId,
  status: state,
  estimatedTime: duration.describe('How long one like it took of late.'),
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
    .describe('One for each task, in their order; those with code 0 were accepted.'),
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
