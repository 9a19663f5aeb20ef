import { Judge0Problem } from './problem.ts'

/** The fields that are returned when the client requests none. */
const DEFAULT_FIELDS = ['stdout', 'time', 'memory', 'stderr', 'token', 'compile_output', 'message', 'status'] as const

/** All fields of Judge0 1.13.1, for `*`. Its SDK fails on an unknown field. */
const JUDGE0_FIELDS = [
  ...DEFAULT_FIELDS,
  ...(['source_code', 'language_id', 'language', 'stdin', 'expected_output', 'status_id'] as const),
  ...(['created_at', 'finished_at'] as const),
  ...(['wall_time', 'exit_code', 'exit_signal', 'number_of_runs'] as const),
  ...(['cpu_time_limit', 'cpu_extra_time', 'wall_time_limit', 'memory_limit', 'stack_limit'] as const),
  ...(['max_processes_and_or_threads', 'max_file_size', 'redirect_stderr_to_stdout', 'enable_network'] as const),
  ...(['enable_per_process_and_thread_time_limit', 'enable_per_process_and_thread_memory_limit'] as const),
  ...(['compiler_options', 'command_line_arguments', 'callback_url', 'additional_files'] as const),
] as const

/** Returned to a caller that names them. */
const SUBMISSION_FIELDS = [
  ...JUDGE0_FIELDS,
  ...(['queued_at', 'started_at', 'updated_at', 'queue_host', 'execution_host'] as const),
] as const
export type Judge0Field = (typeof SUBMISSION_FIELDS)[number]

/** Encoded as Base64 on request. */
export const TEXT_FIELDS: ReadonlySet<Judge0Field> = new Set([
  ...(['source_code', 'stdin', 'expected_output', 'stdout', 'stderr', 'compile_output', 'message'] as const),
])

export const FIELDS_BY_DEFAULT: readonly Judge0Field[] = DEFAULT_FIELDS

/** Parses comma-separated names; `*` stands for all fields of Judge0. */
export function fieldsIn(text: string | undefined): readonly Judge0Field[] {
  const names = (text ?? '').split(',').filter((name) => name !== '')
  const unknown = names.filter((name) => name !== '*' && !isField(name))
  if (unknown.length > 0)
    throw new Judge0Problem(400, `invalid fields: [${unknown.slice(0, 20).join(', ').slice(0, 500)}]`)
  if (names.includes('*')) return JUDGE0_FIELDS
  return names.length === 0 ? FIELDS_BY_DEFAULT : names.filter(isField)
}

const isField = (name: string): name is Judge0Field => (SUBMISSION_FIELDS as readonly string[]).includes(name)
