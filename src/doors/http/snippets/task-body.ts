import { z } from 'zod'
import { ISOLATION_LEVELS } from '../../../model/isolation.ts'
import { ENCODINGS } from '../../../services/snippets/output-text.ts'
import { CPU_FORM, cpusIn, DURATION_FORM, durationIn, SIZE_FORM, sizeIn } from '../../amount-text.ts'

/** The body of `POST /api/v1/tasks`. The schema is strict: with a misspelt field, a limit would silently not apply. */

const DAY_MS = 24 * 3_600_000
const MOST_BYTES = 1024 ** 4

/** Marks an error about an amount, which has its own code. */
export const AMOUNT = 'amount'

/** A text with a value. It is parsed twice: once to validate it, and once to use it. */
const word = (form: RegExp, read: (text: string) => number | undefined, rule: Rule) =>
  z
    .string()
    .max(32)
    .refine((text) => isBetween(read(text), rule), { error: `must be ${rule.like}`, params: { kind: AMOUNT } })
    .transform((text) => read(text) ?? 0)
    .meta({ pattern: form.source, description: rule.about })

interface Rule {
  readonly least: number
  readonly most: number
  readonly like: string
  readonly about: string
}

const isBetween = (value: number | undefined, { least, most }: Rule): boolean =>
  value !== undefined && value >= least && value <= most

const duration = (about: string) =>
  word(DURATION_FORM, durationIn, {
    least: 1,
    most: DAY_MS,
    like: 'a duration from 1ms to 24h, such as "30s", "500ms" or "2m"',
    about: `${about} A number with ms, s, m or h.`,
  })

const size = (about: string) =>
  word(SIZE_FORM, sizeIn, {
    least: 1,
    most: MOST_BYTES,
    like: 'a size of at least 1B, such as "256MB" or "64MiB"',
    about: `${about} A number with B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (of 1024).`,
  })

const cpus = word(CPU_FORM, cpusIn, {
  least: 0.01,
  most: 1024,
  like: 'a number of processors from "0.01" to "1024", such as "1.0"',
  about: 'Processors that it may use at a time.',
})

const count = (about: string) => z.number().int().min(1).max(1_000_000).describe(about)

export const limitBody = z
  .strictObject({
    timeout: duration('Elapsed time from start to end.').optional(),
    memory: size('Memory of all its processes.').optional(),
    cpu: cpus.optional(),
    cpuTime: duration('Processor time of all its processes together.').optional(),
    processes: count('Processes and threads at a time.').optional(),
    fileSize: size('Size of each file that it writes.').optional(),
    output: size(
      'Bytes of standard output that are kept, and the same number for standard error; of longer output the middle is dropped.',
    ).optional(),
    disk: size('Total size of the files in its working directory.').optional(),
  })
  .describe(
    "The limits of a stage. A field that is left out has the language's default; no limit exceeds that of the server.",
  )

const name = z.string().min(1).max(255)
const text = (most: number) => z.string().max(most)
const MiB = 1024 * 1024

const fileBody = z.strictObject({
  name: name
    .optional()
    .describe(
      'The path below the working directory, with slashes. The first file may have none: its name is then the default of the language.',
    ),
  content: text(4 * MiB),
  encoding: z.enum(ENCODINGS).optional().describe('The encoding of content (default utf8).'),
})

const metadataValue = z.union([z.string().max(4096), z.number(), z.boolean()]).transform(String)

export const taskBody = z
  .strictObject({
    language: z.string().min(1).max(64).describe('A name or an alias, see GET /api/v1/languages.'),
    version: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('A version, the beginning of one, or a range such as ^3.11. Without it, any version will do.'),
    code: text(4 * MiB)
      .optional()
      .describe('The source code of the program.'),
    files: z
      .array(fileBody)
      .max(1000)
      .optional()
      .describe('Source files, instead of code or in addition to it. Without code, the first file is the program.'),
    args: z
      .array(text(64 * 1024))
      .max(1000)
      .optional(),
    env: z.record(name, text(64 * 1024)).optional(),
    stdin: text(4 * MiB)
      .optional()
      .describe('The standard input of the program.'),
    stdinEncoding: z.enum(ENCODINGS).optional(),
    resourceLimit: limitBody.optional(),
    compileLimit: limitBody.optional().describe('The limits of the compiler, for languages that have one.'),
    network: z
      .boolean()
      .optional()
      .describe(
        'Whether the program may use a network (default false). The operator must grant it; otherwise the request fails with code 40302.',
      ),
    outputs: z.array(name).max(100).optional().describe('Patterns of files to keep, such as out/*.png or **/*.csv.'),
    expectedOutput: text(4 * MiB)
      .optional()
      .describe(
        'The expected output; the task then gets a verdict. The comparison ignores white space at the ends of lines and empty lines at the end.',
      ),
    metadata: z
      .record(name, metadataValue)
      .optional()
      .describe('Your own keys and values, for finding the task later.'),
    callback: z
      .strictObject({
        url: z.string().max(2000),
        secret: z.string().min(8).max(256).optional().describe('The key that signs the deliveries.'),
      })
      .optional()
      .describe('The server sends a POST request here when the task has ended.'),
    idempotencyKey: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe(
        'A repeated request with the same key returns the first task. The header Idempotency-Key has the same meaning.',
      ),
    priority: z
      .number()
      .int()
      .min(-100)
      .max(100)
      .optional()
      .describe('A lower number is scheduled earlier, among the tasks of one instance.'),
    group: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe('The group or user of the task: the slots of an instance are shared fairly among its groups.'),
    cache: z
      .boolean()
      .optional()
      .describe('Allows a cached result of the same task, and storing this result in the cache.'),
    isolation: z.enum(ISOLATION_LEVELS).optional().describe('The weakest isolation that is acceptable.'),
  })
  .describe('A program to run.')
export type TaskBody = z.infer<typeof taskBody>

const MOST_IN_BATCH = 100
export const batchBody = z.strictObject({ tasks: z.array(z.unknown()).min(1).max(MOST_IN_BATCH) })
