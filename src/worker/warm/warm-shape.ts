import {
  type EnvVariable,
  type InlineFile,
  type Limits,
  type PlatformProperty,
  strictest,
} from '../../model/command.ts'
import type { CommandStage, CommandTask } from '../../model/command-task.ts'
import { LANGUAGE_PROPERTY, type Language, languageIn } from '../../model/language.ts'
import type { Run } from '../../runtimes/run/runtime.ts'
import { outputPathsOf } from '../inputs/stage-inputs.ts'

/**
 * Everything that must be known when an interpreter is started: its arguments, limits and environment are set then and
 * never changed. A waiting interpreter serves only runs that would be started in exactly the same way. The code, other
 * files, the contents of standard input and the time limit may differ.
 */
export interface WarmShape {
  /** Equal for equal shapes. */
  readonly key: string
  /** The file with the code, which the interpreter opens last. */
  readonly file: string
  readonly argv: readonly string[]
  readonly env: readonly EnvVariable[]
  readonly limits: Limits
  readonly hasInput: boolean
  /** The language only, by which the runtime finds its root file system. */
  readonly platform: readonly PlatformProperty[]
}

/** Writing more code than this to a pipe takes longer than starting an interpreter. */
const MOST_CODE_BYTES = 1024 * 1024

/**
 * The shape of an interpreter that can serve this task; undefined when none can. `most` are the limits of the worker.
 */
export function warmShape(task: CommandTask, language: Language, most: Limits): WarmShape | undefined {
  const { name } = language
  const [stage] = task.stages
  if (language.warm === undefined || stage === undefined || !isPlain(task)) return undefined
  const file = fileOf(stage, language)
  if (file === undefined || !sameVariables(stage.env, language.run.env) || !isReadable(task, file, language.warm))
    return undefined
  const { wallMs: _, ...limits } = strictest(stage.limits, most)
  const platform = [{ name: LANGUAGE_PROPERTY, value: name }]
  const { argv, env } = stage
  const hasInput = stage.stdin !== undefined
  return { ...{ file, argv, env, limits, hasInput, platform }, key: keyOf({ argv, env, limits, hasInput, name }) }
}

/** The key of the shape of a run. */
export function shapeKeyOf({ command, limits: { wallMs: _, ...limits }, hooks }: Run): string {
  const name = languageIn(command) ?? ''
  return keyOf({ argv: command.argv, env: command.env, limits, hasInput: hooks.stdin !== undefined, name })
}

/** The code of a task that has no other input and needs no directory for outputs. */
export function warmCode(task: CommandTask, file: string): InlineFile | undefined {
  const { root, files, placed } = task.inputs
  const read = task.stages.filter(({ stdin }) => stdin?.kind === 'blob')
  const others = files.length - 1 + placed.length + read.length + outputPathsOf(task).length
  const [code] = files
  return root === undefined && task.workingDirectory === '' && others === 0 && code?.path === file ? code : undefined
}

interface KeyParts extends Pick<WarmShape, 'argv' | 'env' | 'limits' | 'hasInput'> {
  readonly name: string
}

const keyOf = ({ argv, env, limits, hasInput, name }: KeyParts): string =>
  JSON.stringify([name, argv, env.map((each) => [each.name, each.value]), Object.entries(limits).sort(), hasInput])

/** One stage, inline files and no network. An interactive stage has its own limits, and may have a terminal. */
function isPlain({ stages, inputs, workingDirectory, image }: CommandTask): boolean {
  const [stage] = stages
  const isAlone = stages.length === 1 && workingDirectory === '' && image === undefined && stage?.network === false
  return isAlone && stage.stdin?.kind !== 'live' && inputs.root === undefined && inputs.placed.length === 0
}

/** The argument at the place of `{file}`, if all other arguments are those of the language. */
function fileOf({ argv }: CommandStage, { run }: Language): string | undefined {
  const at = run.argv.indexOf('{file}')
  const file = argv[at]
  const isSame = run.argv.every((word, i) => i === at || (word === argv[i] && !word.includes('{')))
  return at < 0 || file === undefined || file.includes('/') || !isSame ? undefined : file
}

/** Variables of a client (PYTHONPATH, NODE_OPTIONS) may name files that do not exist when the interpreter starts. */
const sameVariables = (env: readonly EnvVariable[], own: Readonly<Record<string, string>>): boolean =>
  env.length === Object.keys(own).length && env.every(({ name, value }) => own[name] === value)

function isReadable({ inputs }: CommandTask, file: string, warm: NonNullable<Language['warm']>): boolean {
  const code = inputs.files.find(({ path }) => path === file)?.contents
  if (code === undefined || code.length > MOST_CODE_BYTES) return false
  if (inputs.files.some(({ path }) => warm.exceptFiles.includes(path))) return false
  return warm.exceptCode === undefined || !new RegExp(warm.exceptCode, 'm').test(Buffer.from(code).toString())
}
