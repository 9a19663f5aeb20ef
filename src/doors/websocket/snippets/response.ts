import type { StageResult } from '../../../model/command-task.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import { durationText } from '../../amount-text.ts'

/** The end of the program; its output was sent before. */
export function exitMessage({ id, state, result, verdict, what }: SnippetStatus): object {
  const last = result?.stages.at(-1)
  return {
    type: 'exit',
    taskId: id,
    status: state,
    exitCode: last?.exitCode ?? null,
    ...(last && endOf(last)),
    ...(verdict && { verdict }),
    ...(result && {
      stages: result.stages.map((stage) => ({ name: stage.name, exitCode: stage.exitCode, ...endOf(stage) })),
    }),
    ...(what !== undefined && state !== 'completed' && { message: what }),
  }
}

function endOf({ cause, signal, reason, usage }: StageResult): object {
  const cpuMs = usage.cpuUserMs === undefined ? undefined : usage.cpuUserMs + (usage.cpuSystemMs ?? 0)
  return {
    cause,
    ...(signal !== undefined && { signal }),
    ...(reason !== undefined && { reason }),
    executionTime: durationText(usage.wallMs),
    ...(cpuMs !== undefined && { cpuTime: durationText(cpuMs) }),
    ...(usage.peakMemoryBytes !== undefined && { memory: usage.peakMemoryBytes }),
  }
}
