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
import type { Room, Staged } from './room.ts'
import { moveInputs, stageInputs } from './stage-data.ts'

/** One command, ready to be run in a room: everything that the tool and its inputs say, as plain values. */
export interface ToolCommand {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A path within the room. */
  readonly stdin?: string
  /** Paths from the working directory. */
  readonly stdout?: string
  readonly stderr?: string
  readonly staged: readonly Staged[]
  readonly resources: Resources
  readonly docker?: Docker
  readonly network: boolean
  /** Undefined: as long as it takes. */
  readonly timeLimitSeconds?: number
  /** Writable files may be changed where they are, instead of in a copy. */
  readonly inplaceUpdate: boolean
  /** Whether the result of an equal command may stand for this one. */
  readonly reuse: boolean
  readonly room: Room
  /** The inputs with their paths in the room, and `runtime`: what expressions about the outputs will see. */
  readonly inputs: ValueRecord
  readonly runtime: ValueRecord
}

export interface ToolCall {
  readonly tool: CommandLineTool
  readonly scope: Scope
  /** Complete, as `bindInputs` gives them. */
  readonly inputs: ValueRecord
  readonly room: Room
  readonly evaluator: Evaluator
}

export function toolCommand({ tool, scope, inputs: bound, room, evaluator }: ToolCall): ToolCommand {
  const placed = stageInputs(bound, room)
  const plain: ExpressionContext = { inputs: placed.inputs, self: null, runtime: {} }
  const resources = resourcesOf({ scope, version: tool.version, context: plain, evaluator })
  const runtime = runtimeOf(room, resources)
  const workDir = initialWorkDir({ scope, room, context: { ...plain, runtime }, evaluator })
  const { inputs, staged } = moveInputs(placed, workDir.moved)
  const context: ExpressionContext = { inputs, self: null, runtime }
  const line = commandLine(tool, { context, evaluator })
  const shell = findRequirement(scope, 'ShellCommandRequirement') !== undefined
  const docker = dockerOf(scope)
  const asking = { scope, context, evaluator }
  return {
    argv: shell ? ['/bin/sh', '-c', shellLine(line)] : line.map((one) => one.text),
    env: environment(asking, room),
    ...streams(tool, asking),
    staged: [...staged, ...workDir.staged],
    resources,
    ...(docker === undefined ? {} : { docker }),
    network: flag(asking, 'NetworkAccess', { field: 'networkAccess', otherwise: false }),
    ...timeLimit(asking),
    inplaceUpdate: flag(asking, 'InplaceUpdateRequirement', { field: 'inplaceUpdate', otherwise: false }),
    reuse: flag(asking, 'WorkReuse', { field: 'enableReuse', otherwise: true }),
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

function environment({ scope, context, evaluator }: Asking, room: Room): Readonly<Record<string, string>> {
  const given = findRequirement(scope, 'EnvVarRequirement')?.envDef
  const variables = (isList(given) ? given : []).flatMap((one): [string, string][] => {
    if (!isRecord(one) || typeof one.envName !== 'string') return []
    const value = evaluateText(String(one.envValue), context, evaluator)
    if (value === null || value.includes('\0') || /[=\0]/.test(one.envName))
      throw invalid(`${one.envName} is no variable`)
    return [[one.envName, value]]
  })
  return Object.fromEntries([['HOME', room.outdir], ['TMPDIR', room.tmpdir], ...variables])
}

function streams(
  tool: CommandLineTool,
  { context, evaluator }: Asking,
): Pick<ToolCommand, 'stdin' | 'stdout' | 'stderr'> {
  const path = (source: string | undefined): string | undefined =>
    source === undefined ? undefined : (evaluateText(source, context, evaluator) ?? undefined)
  const name = (stream: 'stdout' | 'stderr'): string | undefined => {
    const value = path(tool[stream])
    if (value === undefined) return undefined
    if (value === '' || value.startsWith('/') || value.split('/').includes('..')) {
      throw invalid(`${stream} must be the name of a file in the working directory, not ${describeValue(value)}`)
    }
    return value
  }
  const [stdin, stdout, stderr] = [path(tool.stdin), name('stdout'), name('stderr')]
  return {
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
  }
}

function setting({ scope, context, evaluator }: Asking, name: string, key: string): Value | undefined {
  const given = findRequirement(scope, name)?.[key]
  return typeof given === 'string' ? evaluate(given, context, evaluator) : given
}

function flag(asking: Asking, name: string, { field, otherwise }: { field: string; otherwise: boolean }): boolean {
  const value = setting(asking, name, field)
  if (value === undefined || value === null) return otherwise
  if (typeof value !== 'boolean')
    throw invalid(`${field} of ${name} must be true or false, not ${describeValue(value)}`)
  return value
}

function timeLimit(asking: Asking): { timeLimitSeconds?: number } {
  const value = setting(asking, 'ToolTimeLimit', 'timelimit') ?? null
  if (value === null || value === 0) return {}
  if (typeof value !== 'number' || value < 0)
    throw invalid(`a time limit must be a number that is not negative, not ${describeValue(value)}`)
  return { timeLimitSeconds: value }
}

export type ExitClass = 'success' | 'temporaryFailure' | 'permanentFailure'

/** What an exit code means to the tool. */
export function exitClass(tool: CommandLineTool, exitCode: number): ExitClass {
  if (tool.successCodes.includes(exitCode)) return 'success'
  if (tool.temporaryFailCodes.includes(exitCode)) return 'temporaryFailure'
  if (tool.permanentFailCodes.includes(exitCode)) return 'permanentFailure'
  return exitCode === 0 ? 'success' : 'permanentFailure'
}
