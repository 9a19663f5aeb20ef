import { FaultError } from '../../base/fault.ts'
import { type Evaluator, evaluate } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import { hasExpression } from '../expressions/scan.ts'
import type { CwlType, OutputBinding, SecondaryFile } from '../process/cwl-type.ts'
import { alternatives } from '../process/cwl-type.ts'
import type { CommandLineTool } from '../process/process.ts'
import { companionName } from '../values/file-value.ts'
import { isList } from '../values/value.ts'
import type { ToolCommand } from './tool-command.ts'

/**
 * The files that must be uploaded from a room so that its outputs can be collected elsewhere; relative to the working
 * directory.
 */
export interface ToolOutputPaths {
  /** Without directories: the parent directories of a declared output path are created before the command runs. */
  readonly paths: readonly string[]
  readonly globs: readonly string[]
}

/** All files: for a tool that names its files only after it ran. */
const EVERYTHING: ToolOutputPaths = { paths: [], globs: ['*', '.*'] }
const OUTPUT_JSON = 'cwl.output.json'
const MAGIC = /[*?[]/
/** With more entries it is simpler to upload everything. */
const MOST_CHARS = 2000
const MOST_GLOBS = 64

/**
 * Called before the command runs, while `collectToolOutputs` is called after it: so it may return too many files, never
 * too few. Patterns that depend on `runtime.exitCode`, and files that expressions name, mean all files.
 */
export async function requestedOutputs(
  tool: CommandLineTool,
  command: ToolCommand,
  evaluator: Evaluator,
): Promise<ToolOutputPaths> {
  const patterns = await patternsOf(tool, command, evaluator)
  if (patterns === undefined) return EVERYTHING
  const paths = new Set<string>([OUTPUT_JSON])
  const globs = new Set<string>()
  for (const pattern of patterns) {
    const parts = pattern.split('/')
    const first = parts.findIndex((part) => MAGIC.test(part))
    if (first < 0 && parts.length === 1) paths.add(pattern)
    else if (first < 0) globs.add(pattern)
    // A matching directory is uploaded whole, including links to one.
    else globs.add(parts.slice(0, first + 1).join('/'))
  }
  const all = [...globs]
  return all.join('').length > MOST_CHARS || all.length > MOST_GLOBS ? EVERYTHING : { paths: [...paths], globs: all }
}

/** Undefined when they are not known beforehand. */
async function patternsOf(
  tool: CommandLineTool,
  command: ToolCommand,
  evaluator: Evaluator,
): Promise<readonly string[] | undefined> {
  const context = { inputs: command.inputs, self: null, runtime: command.runtime }
  const found: string[] = []
  for (const { binding, secondaryFiles } of tool.outputs.flatMap(bindingsOf)) {
    if (binding === undefined) return undefined
    const words: (string | undefined)[] = []
    for (const source of binding.glob) words.push(...(await wordsOf(source, context, evaluator)))
    for (const word of words) {
      const plain = word === undefined ? undefined : plainPattern(word, command.room.outdir)
      const group = plain === undefined ? [] : [plain, ...secondaryFiles.map(({ pattern }) => besideOf(plain, pattern))]
      if (word === undefined || plain === '' || group.includes(undefined)) return undefined
      found.push(...group.filter((one) => one !== undefined))
    }
  }
  return found
}

/** The value of a glob; undefined when it cannot be evaluated yet. */
async function wordsOf(
  source: string,
  context: ExpressionContext,
  evaluator: Evaluator,
): Promise<readonly (string | undefined)[]> {
  try {
    const value = await evaluate(source, context, evaluator)
    return (isList(value) ? value : [value]).filter((word) => typeof word === 'string')
  } catch (cause) {
    if (cause instanceof FaultError) return [undefined]
    throw cause
  }
}

interface Bound {
  /** Undefined for files that no binding names. */
  readonly binding: OutputBinding | undefined
  readonly secondaryFiles: readonly SecondaryFile[]
}

interface DeclaredOutput {
  readonly type: CwlType
  readonly binding?: OutputBinding
  readonly secondaryFiles: readonly SecondaryFile[]
}

function bindingsOf({ type, binding: given, secondaryFiles }: DeclaredOutput): readonly Bound[] {
  const own = type.type === 'array' || type.type === 'record' || type.type === 'enum' ? type.outputBinding : undefined
  const binding = given ?? own
  if (binding !== undefined) {
    const namesFiles = binding.outputEval !== undefined && holdsData(type)
    return [{ binding: namesFiles ? undefined : binding, secondaryFiles }]
  }
  const record = alternatives(type).find((one) => one.type === 'record')
  if (record?.type === 'record')
    return record.fields.flatMap(({ outputBinding, type: inner, secondaryFiles: beside }) =>
      bindingsOf({ type: inner, secondaryFiles: beside, ...(outputBinding && { binding: outputBinding }) }),
    )
  return holdsData(type) ? [{ binding: undefined, secondaryFiles }] : []
}

function holdsData(type: CwlType): boolean {
  if (type.type === 'union') return type.of.some(holdsData)
  if (type.type === 'array') return holdsData(type.items)
  if (type.type === 'record') return type.fields.some((field) => holdsData(field.type))
  return type.type === 'File' || type.type === 'Directory' || type.type === 'Any'
}

/** Relative to the working directory, which is the empty path; undefined for a path outside the room. */
function plainPattern(pattern: string, outdir: string): string | undefined {
  const whole = pattern.startsWith('/') ? pattern : `${outdir}/${pattern}`
  if (whole !== outdir && !whole.startsWith(`${outdir}/`)) return undefined
  const parts = whole
    .slice(outdir.length)
    .split('/')
    .filter((part) => part !== '' && part !== '.')
  return parts.includes('..') ? undefined : parts.join('/')
}

/** Undefined when it cannot be derived from the pattern alone. */
function besideOf(pattern: string, suffix: string): string | undefined {
  if (hasExpression(suffix) || (MAGIC.test(pattern) && suffix.startsWith('^'))) return undefined
  const slash = pattern.lastIndexOf('/') + 1
  return pattern.slice(0, slash) + companionName(pattern.slice(slash), suffix)
}
