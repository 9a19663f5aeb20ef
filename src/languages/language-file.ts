import { z } from 'zod'
import type { Limits } from '../model/command.ts'
import type { Language } from '../model/language.ts'

/** Limits with units. Missing ones come from DEFAULTS. */
const limits = z
  .strictObject({
    wall_seconds: z.number().positive().max(3600),
    cpu_seconds: z.number().positive().max(3600),
    memory_mib: z
      .int()
      .min(1)
      .max(1 << 20),
    pids: z
      .int()
      .min(1)
      .max(1 << 16),
    file_mib: z
      .int()
      .min(1)
      .max(1 << 20),
    disk_mib: z
      .int()
      .min(1)
      .max(1 << 20),
    output_kib: z
      .int()
      .min(1)
      .max(1 << 20),
    flood_mib: z
      .int()
      .min(1)
      .max(1 << 20),
    open_files: z
      .int()
      .min(24)
      .max(1 << 20),
  })
  .partial()

const word = z.string().min(1).max(1000)
const words = z.array(word).max(100)
const name = z
  .string()
  .max(50)
  .regex(/^[a-z0-9][a-z0-9+#-]*$/, 'must be made of lower-case letters, digits, "+", "#" and "-"')
const fileName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, 'must be a name of letters, digits, ".", "-" and "_"')
const packages = z.array(z.string().regex(/^[a-z0-9][a-z0-9+.-]+$/, 'must be the name of a package')).max(200)

const pattern = word.superRefine((text, context) => {
  try {
    if (new RegExp(`${text}|`).exec('')?.length === 1)
      context.addIssue({ code: 'custom', message: 'must have a group in parentheses' })
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a regular expression' })
  }
})

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
}

const stage = z.strictObject({
  argv: words.min(1),
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, 'must be the name of a variable'), z.string()).default({}),
  limits: limits.default({}),
})

/** One file in `languages/`. */
export const languageFile = z.strictObject({
  name,
  title: z.string().min(1).max(100),
  aliases: z.array(name).max(30).default([]),
  file_name: fileName,
  file_name_pattern: pattern.optional(),
  extensions: z
    .array(z.string().regex(/^\.[A-Za-z0-9_.+-]+$/, 'must begin with a dot'))
    .min(1)
    .max(20)
    .optional(),
  debian: packages.default([]),
  compile: stage.extend({ outputs: words.default([]) }).optional(),
  run: stage,
  warm: z
    .strictObject({
      except_files: z.array(word).max(50).default([]),
      except_code: word.refine(isPattern, 'must be a regular expression').optional(),
    })
    .optional(),
  probe: z.strictObject({ programs: words.min(1), also: words.default([]), argv: words.min(1), pattern }),
  self_test: z.strictObject({ code: z.string().min(1), stdin: z.string().default(''), stdout: z.string().min(1) }),
  libraries: z.strictObject({ debian: packages.default([]) }).optional(),
})

type LimitsInFile = z.infer<typeof limits>
type AllLimits = Readonly<Record<keyof LimitsInFile, number>>

/** Enough for small programs, without harm to others. */
const DEFAULTS: Readonly<Record<'compile' | 'run', AllLimits>> = {
  compile: {
    ...{ wall_seconds: 30, cpu_seconds: 30, memory_mib: 1024, pids: 128, open_files: 1024 },
    ...{ file_mib: 256, disk_mib: 512, output_kib: 256, flood_mib: 16 },
  },
  run: {
    ...{ wall_seconds: 10, cpu_seconds: 10, memory_mib: 256, pids: 64, open_files: 256 },
    ...{ file_mib: 64, disk_mib: 256, output_kib: 1024, flood_mib: 64 },
  },
}

const KIB = 1024
const MIB = 1024 ** 2

function limitsOf(kind: 'compile' | 'run', stated: LimitsInFile): Limits {
  const all = { ...DEFAULTS[kind], ...stated } as AllLimits
  return {
    wallMs: all.wall_seconds * 1000,
    // If a file raises one of the two, the other is raised too, so that it does not end the program.
    cpuMs: (stated.cpu_seconds ?? Math.max(all.cpu_seconds, all.wall_seconds)) * 1000,
    memoryBytes: all.memory_mib * MIB,
    pids: all.pids,
    fileBytes: all.file_mib * MIB,
    diskBytes: all.disk_mib * MIB,
    outputBytes: all.output_kib * KIB,
    outputFloodBytes: all.flood_mib * MIB,
    openFiles: all.open_files,
  }
}

export function languageOf(file: z.infer<typeof languageFile>): Language {
  const stageOf = (kind: 'compile' | 'run', { argv, env, limits: stated }: z.infer<typeof stage>) => ({
    argv,
    env,
    limits: limitsOf(kind, stated),
  })
  return {
    name: file.name,
    title: file.title,
    aliases: file.aliases,
    fileName: file.file_name,
    ...(file.file_name_pattern !== undefined && { fileNamePattern: file.file_name_pattern }),
    ...(file.extensions && { extensions: file.extensions }),
    compile: file.compile && { ...stageOf('compile', file.compile), outputs: file.compile.outputs },
    run: stageOf('run', file.run),
    ...(file.warm && { warm: { exceptFiles: file.warm.except_files, exceptCode: file.warm.except_code } }),
    probe: file.probe,
    selfTest: file.self_test,
    debian: file.debian,
    ...(file.libraries && { libraries: file.libraries }),
  }
}
