import { posix } from 'node:path'
import { invalid } from '../base/fault.ts'
import type { EnvVariable, Limits, PlatformProperty } from '../model/command.ts'
import { type CommandTask, commandTaskOf, type StageCaching, type StageSpec } from '../model/command-task.ts'
import { type IsolationLevel, isolatesAs } from '../model/isolation.ts'
import { LANGUAGE_PROPERTY, type Language, type LanguageStage, languageWithVersion } from '../model/language.ts'
import type { SnippetFile, SnippetRequest } from '../model/snippet.ts'
import { compiledNames, snippetFiles } from './snippet-files.ts'

export interface SnippetRules {
  /** The minimum isolation of snippets, whatever is requested. */
  readonly least: IsolationLevel
  /** The maximum limits, whatever is requested. */
  readonly most: Limits
  /** The secret part of the keys of cached compile results; without it they are not cached. */
  readonly salt?: string
}

const MIB = 1024 ** 2

/** Untrusted code runs in a bare room only if the operator permits it. */
const RULES: SnippetRules = {
  least: 'namespaces',
  most: {
    ...{ wallMs: 300_000, cpuMs: 600_000, memoryBytes: 4096 * MIB, pids: 1024, openFiles: 4096, cpus: 64 },
    ...{ fileBytes: 1024 * MIB, diskBytes: 4096 * MIB, outputBytes: 16 * MIB, outputFloodBytes: 256 * MIB },
  },
}

export type SnippetLowering = (request: SnippetRequest, language: Language, version: string | undefined) => CommandTask

/** Converts a request to a task: a compile stage, where the language has one, and a run stage. Throws `invalid`. */
export const snippetTask: SnippetLowering = (request, language, version) => lower(request, { language, version }, RULES)

/** The same request under other rules. */
export const snippetTaskUnder =
  (rules: Partial<SnippetRules>): SnippetLowering =>
  (request, language, version) =>
    lower(request, { language, version }, { ...RULES, ...rules })

interface Chosen {
  readonly language: Language
  readonly version: string | undefined
}

function lower(
  request: SnippetRequest,
  { language, version }: Chosen,
  { least, most, salt }: SnippetRules,
): CommandTask {
  const files = snippetFiles(request.files, language)
  const named = wordsFor(files, language)
  const { isolation: requested } = request
  const isolation = requested !== undefined && isolatesAs(requested, least) ? requested : least
  const compile: StageSpec[] =
    language.compile === undefined
      ? []
      : [
          {
            ...stageOf('compile', language.compile, { named, limits: request.compileLimits, most }),
            cache: cachingOf(language.compile, salt),
          },
        ]
  const run = stageOf('run', language.run, { named, limits: request.runLimits, most })
  return commandTaskOf({
    stages: [
      ...compile,
      {
        ...run,
        argv: [...run.argv, ...request.args.map(checkedArgument)],
        env: overlaid(run.env ?? [], request.env.map(checkedVariable)),
        ...(request.stdin && { stdin: { kind: 'inline', bytes: request.stdin } }),
        ...(request.interactive && { stdin: { kind: 'live', terminal: request.interactive.pty } }),
        network: request.network,
      },
    ],
    inputs: { files: files.map(({ name, contents }) => ({ path: name, contents, executable: false })) },
    // A link among the outputs is replaced by its target; links cannot lead out of the room.
    outputs: { globs: request.outputs, symlinks: 'follow' },
    platform: platformOf({ language, version }, requested === undefined ? undefined : isolation),
    isolation,
    cacheable: request.cacheable,
  })
}

/**
 * Workers offer no language without sufficient isolation, and some do not report their isolation; so the platform
 * property is set only when the request has one.
 */
const platformOf = ({ language, version }: Chosen, isolation: IsolationLevel | undefined): PlatformProperty[] => [
  {
    name: LANGUAGE_PROPERTY,
    value: version === undefined ? language.name : languageWithVersion(language.name, version),
  },
  ...(isolation === undefined ? [] : [{ name: 'isolation', value: isolation }]),
]

const cachingOf = ({ outputs = [] }: LanguageStage, salt: string | undefined): StageCaching | undefined =>
  salt === undefined || outputs.length === 0 ? undefined : { salt, outputs }

interface Words {
  readonly file: string
  readonly stem: string
  readonly files: readonly string[]
}

function wordsFor(files: readonly SnippetFile[], language: Language): Words {
  const file = files[0]?.name ?? language.fileName
  return { file, stem: file.slice(0, file.length - posix.extname(file).length), files: compiledNames(files, language) }
}

interface StageOrder {
  readonly named: Words
  readonly limits: Limits
  readonly most: Limits
}

function stageOf(name: 'compile' | 'run', stage: LanguageStage, { named, limits, most }: StageOrder): StageSpec {
  return {
    name,
    argv: stage.argv.flatMap((word) => (word === '{files}' ? named.files : [filled(word, named)])),
    env: Object.entries(stage.env).map(([key, value]) => ({ name: key, value: filled(value, named) })),
    limits: within({ ...stage.limits, ...given(limits) }, most),
  }
}

/** Inserted values are not expanded again: a file may be called `{stem}`. */
const filled = (text: string, { file, stem }: Words): string =>
  text.replace(/\{(file|stem)\}/g, (_, word: string) => (word === 'file' ? file : stem))

const given = (limits: Limits): Limits =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))

function within(limits: Limits, most: Limits): Limits {
  const held: { -readonly [K in keyof Limits]: Limits[K] } = { ...limits }
  for (const name of Object.keys(limits) as (keyof Limits)[]) {
    const [asked, top] = [limits[name] ?? Number.NaN, most[name] ?? Number.POSITIVE_INFINITY]
    if (!(asked > 0)) throw invalid(`limits: ${name} is ${asked}, and must be more than 0`)
    held[name] = Math.min(asked, top)
  }
  return held
}

function checkedArgument(argument: string): string {
  if (argument.includes('\0') || !argument.isWellFormed()) throw invalid('args: no argument may have a NUL in it')
  return argument
}

function checkedVariable({ name, value }: EnvVariable): EnvVariable {
  if (name === '' || /[=\0]/.test(name) || value.includes('\0') || !name.isWellFormed() || !value.isWellFormed())
    throw invalid(`env: ${JSON.stringify(name.slice(0, 100))} is not a valid name of an environment variable`)
  return { name, value }
}

/** The request's variables override the language's; of two with the same name the later one counts. */
const overlaid = (under: readonly EnvVariable[], over: readonly EnvVariable[]): EnvVariable[] => [
  ...new Map([...under, ...over].map((variable) => [variable.name, variable])).values(),
]
