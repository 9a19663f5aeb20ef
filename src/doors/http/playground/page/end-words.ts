import type { StageJson, TaskJson } from './code-api.ts'

export interface EndText {
  readonly text: string
  readonly isBad: boolean
}

/** Describes the end of a task in one line: result, duration and memory. */
export function endText(task: TaskJson): EndText {
  const stages = task.result?.stages ?? []
  const last = stages.at(-1)
  const isBad = task.status !== 'completed' || (last !== undefined && last.cause !== 'ok')
  const parts = [outcome(task, last), ...figures(last), ...(task.cached ? ['from the cache'] : [])]
  return { text: parts.join(' · '), isBad }
}

function outcome({ status, failure }: TaskJson, last: StageJson | undefined): string {
  if (status === 'cancelled') return 'Stopped'
  if (status === 'timeout') return 'Time is up'
  if (last === undefined) return failure?.message ?? (status === 'completed' ? 'Done' : 'Failed')
  const where = last.name === 'run' ? '' : ` (${last.name})`
  return (CAUSES[last.cause]?.(last) ?? last.reason ?? last.cause) + where
}

const CAUSES: Readonly<Record<string, (stage: StageJson) => string>> = {
  ok: () => 'Done, exit code 0',
  exit: ({ exitCode }) => `Exit code ${exitCode}`,
  signal: ({ signal, exitCode }) => `Ended by ${signal ?? `signal, exit code ${exitCode}`}`,
  timeout: () => 'Time is up',
  'cpu-time': () => 'CPU time is used up',
  'out-of-memory': () => 'Out of memory',
  'pid-limit': () => 'Too many processes',
  'file-size': () => 'A file grew too large',
  'disk-limit': () => 'The disk space is used up',
  'output-limit': () => 'Too much output',
  'not-started': ({ reason }) => `Could not be started${reason === undefined ? '' : `: ${reason}`}`,
}

function figures(last: StageJson | undefined): string[] {
  if (last === undefined) return []
  const { executionTime, cpuTime, memory } = last
  return [
    executionTime,
    ...(cpuTime === undefined ? [] : [`${cpuTime} CPU`]),
    ...(memory === undefined ? [] : [`${megabytes(memory)} MB`]),
  ]
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)
