/** Defaults and maxima of a submission; in seconds and kilobytes, as in Judge0. */
export interface Judge0Limits {
  readonly cpuTime: number
  readonly mostCpuTime: number
  readonly cpuExtraTime: number
  readonly mostCpuExtraTime: number
  readonly wallTime: number
  readonly mostWallTime: number
  readonly memory: number
  readonly mostMemory: number
  readonly stack: number
  readonly mostStack: number
  readonly processes: number
  readonly mostProcesses: number
  readonly fileSize: number
  readonly mostFileSize: number
  readonly mostRuns: number
  readonly mostBatch: number
  /** Limit for all files of an archive together. */
  readonly mostExtracted: number
  /** The maximum number of queued tasks; the server rejects further ones. */
  readonly mostQueued: number
}

/** The defaults are those of Judge0; the maxima are those of this grid. */
export const JUDGE0_LIMITS: Judge0Limits = {
  cpuTime: 5,
  mostCpuTime: 300,
  cpuExtraTime: 1,
  mostCpuExtraTime: 5,
  wallTime: 10,
  mostWallTime: 300,
  memory: 128_000,
  mostMemory: 4_096_000,
  stack: 64_000,
  mostStack: 4_096_000,
  processes: 60,
  mostProcesses: 1024,
  fileSize: 1024,
  mostFileSize: 1_048_576,
  mostRuns: 20,
  mostBatch: 20,
  mostExtracted: 10_240,
  mostQueued: 10_000,
}

export interface Judge0Switches {
  readonly hasCallbacks: boolean
  readonly mayUseNetwork: boolean
}

/** The answer of `config_info`, with Judge0's names. */
export const configInfo = (limits: Judge0Limits, { hasCallbacks, mayUseNetwork }: Judge0Switches) => ({
  maintenance_mode: false,
  max_queue_size: limits.mostQueued,
  enable_wait_result: true,
  enable_compiler_options: false,
  allowed_languages_for_compile_options: [],
  enable_command_line_arguments: true,
  enable_submission_delete: false,
  enable_callbacks: hasCallbacks,
  callbacks_max_tries: 9,
  callbacks_timeout: 10,
  enable_additional_files: true,
  cpu_time_limit: limits.cpuTime,
  max_cpu_time_limit: limits.mostCpuTime,
  cpu_extra_time: limits.cpuExtraTime,
  max_cpu_extra_time: limits.mostCpuExtraTime,
  wall_time_limit: limits.wallTime,
  max_wall_time_limit: limits.mostWallTime,
  memory_limit: limits.memory,
  max_memory_limit: limits.mostMemory,
  stack_limit: limits.stack,
  max_stack_limit: limits.mostStack,
  max_processes_and_or_threads: limits.processes,
  max_max_processes_and_or_threads: limits.mostProcesses,
  enable_per_process_and_thread_time_limit: false,
  allow_enable_per_process_and_thread_time_limit: false,
  enable_per_process_and_thread_memory_limit: false,
  allow_enable_per_process_and_thread_memory_limit: false,
  max_file_size: limits.fileSize,
  max_max_file_size: limits.mostFileSize,
  number_of_runs: 1,
  max_number_of_runs: limits.mostRuns,
  redirect_stderr_to_stdout: false,
  max_extract_size: limits.mostExtracted,
  enable_batched_submissions: true,
  max_submission_batch_size: limits.mostBatch,
  submission_cache_duration: 0,
  use_docs_as_homepage: false,
  allow_enable_network: mayUseNetwork,
  enable_network: false,
  disable_implicit_base64_encoding: true,
})
