import { invalid } from '../../base/fault.ts'
import { type Evaluator, evaluate, evaluateText } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import type { CommandLineTool, Scope } from '../process/process.ts'
import { findRequirement } from '../process/requirement.ts'
import { describeValue, isList, isRecord, type Value, type ValueRecord } from '../values/value.ts'
import { commandLine, shellLine } from './command-line.ts'
import { type Docker, dockerOf } from './docker.ts'
import { initialWorkDir } from './initial-work-dir.ts'
import { type Resources, resourcesOf, runtimeOf } from './resources.ts'
import type { Staged, ToolRoom } from './room.ts'
import { moveInputs, stageInputs } from './stage-data.ts'

/** One command, ready to be run in a room: the result of evaluating the tool with its inputs, as plain values. */
export interface ToolCommand {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A path within the room. */
  readonly stdin?: string
  /** Paths relative to the working directory. */
  readonly stdout?: string
  readonly stderr?: string
  readonly staged: readonly Staged[]
  readonly resources: Resources
  readonly docker?: Docker
  readonly network: boolean
  /** Undefined for no time limit. */
  readonly timeLimitSeconds?: number
  /** Whether writable files may be changed in place instead of in a copy. */
  readonly inplaceUpdate: boolean
  /** Whether the result of an equal command may be reused. */
  readonly reuse: boolean
  readonly room: ToolRoom
  /** The inputs with their paths in the room, and `runtime`: the variables of expressions about outputs. */
  readonly inputs: ValueRecord
  readonly runtime: ValueRecord
}

export interface ToolCall {
  readonly tool: CommandLineTool
  readonly scope: Scope
  /** Complete, as `bindInputs` returns them. */
  readonly inputs: ValueRecord
  readonly room: ToolRoom
  readonly evaluator: Evaluator
}

export async function toolCommand({ tool, scope, inputs: bound, room, evaluator }: ToolCall): Promise<ToolCommand> {
  const placed = stageInputs(bound, room)
  const plain: ExpressionContext = { inputs: placed.inputs, self: null, runtime: {} }
  const resources = await resourcesOf({ scope, version: tool.version, context: plain, evaluator })
  const runtime = runtimeOf(room, resources)
  const workDir = await initialWorkDir({ scope, room, context: { ...plain, runtime }, evaluator })
  const { inputs, staged } = moveInputs(placed, workDir.moved)
  const context: ExpressionContext = { inputs, self: null, runtime }
  const line = await commandLine(tool, { context, evaluator })
  const shell = findRequirement(scope, 'ShellCommandRequirement') !== undefined
  const docker = dockerOf(scope)
  const asking = { scope, context, evaluator }
  return {
    argv: shell ? ['/bin/sh', '-c', shellLine(line)] : line.map((one) => one.text),
    env: await environment(asking, room),
    ...(await streams(tool, asking)),
    staged: [...staged, ...workDir.staged],
    resources,
    ...(docker === undefined ? {} : { docker }),
    network: await flag(asking, 'NetworkAccess', { field: 'networkAccess', otherwise: false }),
    ...(await timeLimit(asking)),
    inplaceUpdate: await flag(asking, 'InplaceUpdateRequirement', { field: 'inplaceUpdate', otherwise: false }),
    reuse: await flag(asking, 'WorkReuse', { field: 'enableReuse', otherwise: true }),
    room,
    inputs,
    runtime,
  }
}

interface Asking {
  readonly scope: Scope
  readonly context: ExpressionContext
  readonly evaluator: Evaluator
}

async function environment(
  { scope, context, evaluator }: Asking,
  room: ToolRoom,
): Promise<Readonly<Record<string, string>>> {
  const given = findRequirement(scope, 'EnvVarRequirement')?.envDef
  const variables: [string, string][] = []
  for (const one of isList(given) ? given : []) {
    if (!isRecord(one) || typeof one.envName !== 'string') continue
    const value = await evaluateText(String(one.envValue), context, evaluator)
    if (value === null || value.includes('\0') || /[=\0]/.test(one.envName))
      throw invalid(`${one.envName} is no variable`)
    variables.push([one.envName, value])
  }
  return Object.fromEntries([['HOME', room.outdir], ['TMPDIR', room.tmpdir], ...variables])
}

async function streams(
  tool: CommandLineTool,
  { context, evaluator }: Asking,
): Promise<Pick<ToolCommand, 'stdin' | 'stdout' | 'stderr'>> {
  const path = async (source: string | undefined): Promise<string | undefined> =>
    source === undefined ? undefined : ((await evaluateText(source, context, evaluator)) ?? undefined)
  const name = async (stream: 'stdout' | 'stderr'): Promise<string | undefined> => {
    const value = await path(tool[stream])
    if (value === undefined) return undefined
    if (value === '' || value.startsWith('/') || value.split('/').includes('..')) {
      throw invalid(`${stream} must be the name of a file in the working directory, not ${describeValue(value)}`)
    }
    return value
  }
  const [stdin, stdout, stderr] = [await path(tool.stdin), await name('stdout'), await name('stderr')]
  return {
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
  }
}

async function setting({ scope, context, evaluator }: Asking, name: string, key: string): Promise<Value | undefined> {
  const given = findRequirement(scope, name)?.[key]
  return typeof given === 'string' ? await evaluate(given, context, evaluator) : given
}

async function flag(
  asking: Asking,
  name: string,
  { field, otherwise }: { field: string; otherwise: boolean },
): Promise<boolean> {
  const value = await setting(asking, name, field)
  if (value === undefined || value === null) return otherwise
  if (typeof value !== 'boolean')
    throw invalid(`${field} of ${name} must be true or false, not ${describeValue(value)}`)
  return value
}

async function timeLimit(asking: Asking): Promise<{ timeLimitSeconds?: number }> {
  const value = (await setting(asking, 'ToolTimeLimit', 'timelimit')) ?? null
  if (value === null || value === 0) return {}
  if (typeof value !== 'number' || value < 0)
    throw invalid(`a time limit must be a number that is not negative, not ${describeValue(value)}`)
  return { timeLimitSeconds: value }
}

export type ExitClass = 'success' | 'temporaryFailure' | 'permanentFailure'

/** How the tool interprets an exit code. */
export function exitClass(tool: CommandLineTool, exitCode: number): ExitClass {
  if (tool.successCodes.includes(exitCode)) return 'success'
  if (tool.temporaryFailCodes.includes(exitCode)) return 'temporaryFailure'
  if (tool.permanentFailCodes.includes(exitCode)) return 'permanentFailure'
  return exitCode === 0 ? 'success' : 'permanentFailure'
}
