import { type EnvVariable, type Limits, type PlatformProperty, strictest } from '../../model/command.ts'
import type { CommandStage, CommandTask } from '../../model/command-task.ts'
import { LANGUAGE_PROPERTY, type Language } from '../../model/language.ts'
import type { Run } from '../../runtimes/run/runtime.ts'

/**
 * All of a run that must be known when its interpreter is started: its words, limits and environment are laid on then and never
 * changed. So an interpreter that waits serves only runs that would have been started in exactly the same way; what may differ
 * is the code, the other files, what is read from standard input, and the time that it gets.
 */
export interface WarmShape {
  /** The same for those that are the same. */
  readonly key: string
  /** The file that it opens last. */
  readonly file: string
  readonly argv: readonly string[]
  readonly env: readonly EnvVariable[]
  readonly limits: Limits
  readonly hasInput: boolean
  /** The language only, by which a system of its own is found. */
  readonly platform: readonly PlatformProperty[]
}

/** More than this is poured too slowly to be worth it. */
const MOST_CODE_BYTES = 1024 * 1024

export type LanguageByName = (name: string) => Language | undefined

/** What a waiting interpreter must be to serve this task; undefined for a task that none may. `most` is the worker's own word. */
export function warmShape(task: CommandTask, languageOf: LanguageByName, most: Limits): WarmShape | undefined {
  const { value = '' } = task.platform.find(({ name }) => name === LANGUAGE_PROPERTY) ?? {}
  const name = value.split('@')[0] ?? ''
  const language = languageOf(name)
  const [stage] = task.stages
  if (language?.warm === undefined || stage === undefined || !isPlain(task)) return undefined
  const file = fileOf(stage, language)
  if (file === undefined || !sameVariables(stage.env, language.run.env) || !isReadable(task, file, language.warm))
    return undefined
  const { wallMs: _, ...limits } = strictest(stage.limits, most)
  const platform = [{ name: LANGUAGE_PROPERTY, value: name }]
  const { argv, env } = stage
  const hasInput = stage.stdin !== undefined
  return { ...{ file, argv, env, limits, hasInput, platform }, key: keyOf({ argv, env, limits, hasInput, name }) }
}

/** The same of a run that is about to begin. */
export function shapeKeyOf({ command, limits: { wallMs: _, ...limits }, hooks }: Run): string {
  const name = command.platform.find((each) => each.name === LANGUAGE_PROPERTY)?.value.split('@')[0] ?? ''
  return keyOf({ argv: command.argv, env: command.env, limits, hasInput: hooks.stdin !== undefined, name })
}

interface KeyParts extends Pick<WarmShape, 'argv' | 'env' | 'limits' | 'hasInput'> {
  readonly name: string
}

const keyOf = ({ argv, env, limits, hasInput, name }: KeyParts): string =>
  JSON.stringify([name, argv, env.map((each) => [each.name, each.value]), Object.entries(limits).sort(), hasInput])

/** One stage, a few files and nothing granted. One that is typed to has limits and terminals of its own. */
function isPlain({ stages, inputs, workingDirectory, image }: CommandTask): boolean {
  const [stage] = stages
  const isAlone = stages.length === 1 && workingDirectory === '' && image === undefined && stage?.network === false
  return isAlone && stage.stdin?.kind !== 'live' && inputs.root === undefined && inputs.placed.length === 0
}

/** The one that stands where the language has its first, if the words before it are those of the language. */
function fileOf({ argv }: CommandStage, { run }: Language): string | undefined {
  const at = run.argv.indexOf('{file}')
  const file = argv[at]
  const isSame = run.argv.every((word, i) => i === at || (word === argv[i] && !word.includes('{')))
  return at < 0 || file === undefined || file.includes('/') || !isSame ? undefined : file
}

/** What a caller puts there (PYTHONPATH, NODE_OPTIONS) may name files that are not there yet when an interpreter starts. */
const sameVariables = (env: readonly EnvVariable[], said: Readonly<Record<string, string>>): boolean =>
  env.length === Object.keys(said).length && env.every(({ name, value }) => said[name] === value)

function isReadable({ inputs }: CommandTask, file: string, warm: NonNullable<Language['warm']>): boolean {
  const code = inputs.files.find(({ path }) => path === file)?.contents
  if (code === undefined || code.length > MOST_CODE_BYTES) return false
  if (inputs.files.some(({ path }) => warm.exceptFiles.includes(path))) return false
  return warm.exceptCode === undefined || !new RegExp(warm.exceptCode, 'm').test(Buffer.from(code).toString())
}
