import { z } from 'zod'
import type { RunLimits } from '../../services/workflows/driver/thread-driver.ts'
import { configField } from './field.ts'

const seconds = (standard: number) => z.number().positive().max(86_400).default(standard)

/** Workflows that the server runs. */
export const cwl = z
  .strictObject({
    max_expression_seconds: configField(seconds(20), 'Maximum CPU time of one JavaScript expression, in seconds.'),
    max_submission_expression_seconds: configField(
      seconds(300),
      'Maximum CPU time of all JavaScript expressions of one submission, in seconds; above it, the submission fails.',
    ),
    max_json_bytes: configField(
      z
        .int()
        .min(64 * 1024)
        .max(64 * 1024 * 1024)
        .default(16 * 1024 * 1024),
      'Maximum size in bytes of the cwl.output.json of a command, and of the value of an expression as JSON.',
    ),
  })
  .prefault({})

export const runLimits = (set: z.output<typeof cwl>): RunLimits => ({
  expressions: {
    expressionMs: set.max_expression_seconds * 1000,
    submissionMs: set.max_submission_expression_seconds * 1000,
    valueBytes: set.max_json_bytes,
  },
  outputJsonBytes: set.max_json_bytes,
})
