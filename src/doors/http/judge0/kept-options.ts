import { z } from 'zod'

/** Options of a submission that a snippet has no field for; they are stored as one entry of the snippet's metadata. */
const KEPT = z.object({
  language_id: z.number(),
  command_line_arguments: z.string().optional(),
  number_of_runs: z.number().optional(),
  cpu_time_limit: z.number().optional(),
  cpu_extra_time: z.number().optional(),
  wall_time_limit: z.number().optional(),
  memory_limit: z.number().optional(),
  stack_limit: z.number().optional(),
  max_processes_and_or_threads: z.number().optional(),
  max_file_size: z.number().optional(),
  redirect_stderr_to_stdout: z.boolean().optional(),
  enable_network: z.boolean().optional(),
  callback_url: z.string().optional(),
  /** The ids of the other runs. */
  other_runs: z.array(z.string().max(100)).max(100).optional(),
  /** Set where the service cannot compare the output: both streams are merged into one. */
  expected_hash: z.string().optional(),
})

export type KeptOptions = z.output<typeof KEPT>

const KEY = 'judge0'

export const keptMetadata = (kept: KeptOptions): Readonly<Record<string, string>> => ({ [KEY]: JSON.stringify(kept) })

/** Undefined for snippets of other doors, and for metadata in another form. */
export function keptIn(metadata: Readonly<Record<string, string>>): KeptOptions | undefined {
  const text = Object.hasOwn(metadata, KEY) ? metadata[KEY] : undefined
  if (text === undefined) return undefined
  try {
    const parsed = KEPT.safeParse(JSON.parse(text))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
