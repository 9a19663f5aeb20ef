import type { CommandResult, StageResult, StageStream } from '../../../model/command-task.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import { type OutputText, type OutputTextOptions, outputText } from '../../../services/snippets/output-text.ts'
import { API_CODES } from '../../../services/snippets/problem-codes.ts'
import { durationText } from '../../amount-text.ts'
import type { TaskAnswer } from './answers.ts'

/** The envelope of a successful response. */
export const successBody = <T>(data: T) => ({
  code: API_CODES.success.code,
  message: API_CODES.success.message,
  data,
})

type ResultAnswer = NonNullable<TaskAnswer['result']>

/** A task as the API returns it. Without output options the result is left out. */
export async function taskAnswer(status: SnippetStatus, output: OutputTextOptions | undefined): Promise<TaskAnswer> {
  const { result, verdict, version, worker } = status
  return {
    taskId: status.id,
    status: status.state,
    language: status.request.language,
    ...(version !== undefined && { version }),
    ...(result && output && { result: await resultAnswerOf(result, output) }),
    ...(verdict && { verdict }),
    ...failureOf(status),
    timestamps: {
      createdAt: iso(status.createdAt),
      ...(status.state !== 'pending' && { submittedAt: iso(status.submittedAt) }),
      ...(status.startedAt !== undefined && { startedAt: iso(status.startedAt) }),
      ...(status.completedAt !== undefined && { completedAt: iso(status.completedAt) }),
    },
    ...(worker !== undefined && { assignedClient: worker }),
    attempt: status.attempt,
    cached: status.cached,
    ...artifactsOf(result),
    metadata: { ...status.request.metadata },
  }
}

export const iso = (ms: number): string => new Date(ms).toISOString()

/** A completed task has no failure. */
function failureOf({ state, what, noWorker }: SnippetStatus): Pick<TaskAnswer, 'failure'> {
  if (what === undefined || state === 'completed') return {}
  return { failure: { ...(noWorker && { code: API_CODES.noWorker.code }), message: what } }
}

function artifactsOf(result: CommandResult | undefined): Pick<TaskAnswer, 'artifacts'> {
  if (result === undefined || result.outputs.files.length === 0) return {}
  return {
    artifacts: result.outputs.files.map(({ path, digest: { fn, hash, size } }) => ({
      path,
      size,
      ...(fn === 'sha256' && { sha256: hash }),
    })),
  }
}

async function resultAnswerOf({ stages }: CommandResult, options: OutputTextOptions): Promise<ResultAnswer> {
  const answers: ResultAnswer['stages'] = []
  for (const stage of stages) {
    const [output, error] = [await outputText(stage.stdout, options), await outputText(stage.stderr, options)]
    answers.push(stageAnswerOf(stage, output, error))
  }
  const last = answers.at(-1)
  return {
    output: last?.output ?? '',
    error: last?.error ?? '',
    exitCode: last?.exitCode ?? 0,
    executionTime: last?.executionTime ?? durationText(0),
    truncated: answers.some(({ truncated }) => truncated),
    stages: answers,
  }
}

function stageAnswerOf(stage: StageResult, output: OutputText, error: OutputText): ResultAnswer['stages'][number] {
  const { name, cause, exitCode, signal, reason, usage } = stage
  const cpuMs = usage.cpuUserMs === undefined ? undefined : usage.cpuUserMs + (usage.cpuSystemMs ?? 0)
  return {
    name,
    cause,
    exitCode,
    ...(signal !== undefined && { signal }),
    ...(reason !== undefined && { reason }),
    output: output.text,
    error: error.text,
    truncated: output.truncated || error.truncated,
    ...droppedOf(stage),
    executionTime: durationText(usage.wallMs),
    ...(stage.cached && { cached: true }),
    ...(cpuMs !== undefined && { cpuTime: durationText(cpuMs) }),
    ...(usage.peakMemoryBytes !== undefined && { memory: usage.peakMemoryBytes }),
  }
}

function droppedOf({ stdout, stderr }: StageResult): Pick<ResultAnswer['stages'][number], 'dropped'> {
  const gapIn = ({ droppedBytes: bytes, droppedAt: at }: StageStream) => (bytes > 0 ? { at, bytes } : undefined)
  const [output, error] = [gapIn(stdout), gapIn(stderr)]
  if (output === undefined && error === undefined) return {}
  return { dropped: { ...(output && { output }), ...(error && { error }) } }
}
