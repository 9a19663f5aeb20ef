import { z } from 'zod'
import { ISOLATION_LEVELS } from '../../../model/isolation.ts'
import { ENCODINGS } from '../../../services/snippets/output-text.ts'
import { CPU_FORM, cpusIn, DURATION_FORM, durationIn, SIZE_FORM, sizeIn } from '../../amount-text.ts'

/**
 * The body of `POST /api/v1/tasks`. Strict throughout: a field that is misspelt would otherwise be a limit that does
 * not hold.
 */

const DAY_MS = 24 * 3_600_000
const MOST_BYTES = 1024 ** 4

/** Marks a complaint as one about an amount: those have a code of their own. */
export const AMOUNT = 'amount'

/** A word with a value; read twice, once to check it and once to use it. */
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
  about: "Processors' worth of time at any moment.",
})

const count = (about: string) => z.number().int().min(1).max(1_000_000).describe(about)

export const limitBody = z
  .strictObject({
    timeout: duration('From start to end.').optional(),
    memory: size('Of all its processes.').optional(),
    cpu: cpus.optional(),
    cpuTime: duration('Processor time of all its processes together.').optional(),
    processes: count('Processes and threads at a time.').optional(),
    fileSize: size('Of any one file that it writes.').optional(),
    output: size(
      'Of standard output that is kept, and as much of standard error; the middle of more is left out.',
    ).optional(),
    disk: size('Of all that lies in its room.').optional(),
  })
  .describe(
    "What a stage may use. What is left out is the language's own limit, and no limit goes beyond the server's.",
  )

const name = z.string().min(1).max(255)
const text = (most: number) => z.string().max(most)
const MiB = 1024 * 1024

const fileBody = z.strictObject({
  name: name
    .optional()
    .describe(
      'From the working directory, with slashes. The first file may do without: it is then called what the language calls it.',
    ),
  content: text(4 * MiB),
  encoding: z.enum(ENCODINGS).optional().describe('Of content; utf8 unless said.'),
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
      .describe(
        'A version, the beginning of one, or a range such as ^3.11. Without it any worker that has the language will do.',
      ),
    code: text(4 * MiB)
      .optional()
      .describe('The program, as its one or first file.'),
    files: z
      .array(fileBody)
      .max(1000)
      .optional()
      .describe('Instead of code, or beside it. Without code the first is the program.'),
    args: z
      .array(text(64 * 1024))
      .max(1000)
      .optional(),
    env: z.record(name, text(64 * 1024)).optional(),
    stdin: text(4 * MiB)
      .optional()
      .describe('What the program reads.'),
    stdinEncoding: z.enum(ENCODINGS).optional(),
    resourceLimit: limitBody.optional(),
    compileLimit: limitBody.optional().describe('The same for the compiler, in languages that have one.'),
    network: z
      .boolean()
      .optional()
      .describe(
        'Whether the program may use a network (default false). The operator has to grant it: code 40302 where they do not.',
      ),
    outputs: z.array(name).max(100).optional().describe('Patterns of files to keep, such as out/*.png or **/*.csv.'),
    expectedOutput: text(4 * MiB)
      .optional()
      .describe(
        'The task then gets a verdict. White space at the ends of lines, and empty lines at the end, do not count.',
      ),
    metadata: z.record(name, metadataValue).optional().describe('Yours, to find the task by.'),
    callback: z
      .strictObject({
        url: z.string().max(2000),
        secret: z.string().min(8).max(256).optional().describe('Deliveries are signed with it.'),
      })
      .optional()
      .describe('Called with POST when the task is over.'),
    idempotencyKey: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe('Two requests with the same key are one; also as the header Idempotency-Key.'),
    priority: z
      .number()
      .int()
      .min(-100)
      .max(100)
      .optional()
      .describe('Lower goes sooner, among tasks of the same instance.'),
    group: z.string().min(1).max(255).optional().describe('Whose it is: groups share what their instance gets fairly.'),
    cache: z.boolean().optional().describe('The result of the same task may be given, and kept for others.'),
    isolation: z
      .enum(ISOLATION_LEVELS)
      .optional()
      .describe('The least that must be between it and the rest of the machine.'),
  })
  .describe('A program to run.')
export type TaskBody = z.infer<typeof taskBody>

const MOST_IN_BATCH = 100
export const batchBody = z.strictObject({ tasks: z.array(z.unknown()).min(1).max(MOST_IN_BATCH) })
