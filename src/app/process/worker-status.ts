import { z } from 'zod'

/** The status that the worker of `windlass up` reports to its parent: one JSON object per line of standard output. */
export type WorkerStatus =
  | {
      /** The server has accepted this registration. */
      readonly kind: 'registered'
      readonly worker: string
      /** Names of languages that it offers. */
      readonly languages: readonly string[]
      /** Names of languages whose self-test is not finished. */
      readonly testing: readonly string[]
      /** Languages that are installed but fail their self-test, each with the cause. */
      readonly failed: Readonly<Record<string, string>>
    }
  | {
      /** Its server does not answer or refuses the connection; the worker retries. */
      readonly kind: 'waiting'
      readonly what: string
    }
  | {
      /** The worker cannot run. */
      readonly kind: 'failed'
      readonly what: string
      /** A restart would fail for the same cause. */
      readonly isLasting: boolean
    }

const names = z.array(z.string())
const STATUS: z.ZodType<WorkerStatus> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('registered'),
    worker: z.string(),
    languages: names,
    testing: names,
    failed: z.record(z.string(), z.string()),
  }),
  z.object({ kind: z.literal('waiting'), what: z.string() }),
  z.object({ kind: z.literal('failed'), what: z.string(), isLasting: z.boolean() }),
])

export const workerStatusLine = (status: WorkerStatus): string => `${JSON.stringify(status)}\n`

/** Undefined for a line that is not a status, such as output of a library. */
export function statusFromLine(line: string): WorkerStatus | undefined {
  try {
    return STATUS.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}
