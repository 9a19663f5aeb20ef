import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'smol-toml'
import { FaultError } from '../../base/fault.ts'
import { type Config, configSchema, FIELDS } from './config.ts'
import { type Environment, readEnvironment } from './env.ts'
import { exposedKeys, exposureProblem } from './exposure.ts'
import { problemsOf } from './problems.ts'
import { leavesOf, overlay, pickFields, place, type Table } from './table.ts'

export interface ConfigSources {
  /** A TOML file; without one, defaults apply. */
  readonly file?: string | undefined
  readonly env: Environment
  /** The user's home, for the default data directory. */
  readonly home: string
  readonly flags?: readonly FlagSetting[]
}

export interface FlagSetting {
  /** The flag in the form of the command line: `--grpc`. */
  readonly flag: string
  readonly key: string
  readonly value: unknown
}

export interface LoadedConfig {
  readonly config: Config
  /** The source of each value that is not a default: key to file, variable or flag. */
  readonly origins: ReadonlyMap<string, string>
  readonly notes: readonly Note[]
}

/** A warning for the log: the message is constant, the keys name the settings. */
export interface Note {
  readonly level: 'info' | 'warn'
  readonly what: string
  readonly keys: readonly string[]
}

/**
 * Merges flags over variables over file over defaults and validates the result. Throws an `invalid` error with one line
 * per problem.
 */
export function loadConfig({ file, env, home, flags = [] }: ConfigSources): LoadedConfig {
  const environment = readEnvironment(env, FIELDS)
  const fromFlags: Table = {}
  for (const { key, value } of flags) place(fromFlags, key, value)

  const origins = new Map<string, string>()
  let merged: Table = { server: { data_dir: join(env.XDG_DATA_HOME || join(home, '.local/share'), 'windlass') } }
  // WINDLASS_SERVER also names the server of a worker, unless a setting does.
  if (env.WINDLASS_SERVER) merged = overlay(merged, { worker: { server_url: env.WINDLASS_SERVER } })
  const lay = (layer: Table, origin: (key: string) => string) => {
    for (const [key] of leavesOf(layer)) origins.set(key, origin(key))
    merged = overlay(merged, layer)
  }
  if (file !== undefined) lay(readToml(file), () => file)
  lay(environment.values, (key) => FIELDS.find((field) => covers(field.key, key))?.variable ?? key)
  lay(fromFlags, (key) => flags.find((set) => set.key === key)?.flag ?? key)

  const config = check(merged, origins)
  for (const { key, holdsPath } of FIELDS) if (holdsPath === true) makeAbsolute(config, key)
  return { config, origins, notes: notesOn(config, environment.unknown) }
}

const UNIX = /^unix:(?:\/\/)?(?=[^/])/

/** Resolved here, so that a process with another working directory uses the same file. */
function makeAbsolute(config: Config, key: string): void {
  const value = pickFields(config, key)
  if (typeof value !== 'string') return
  const isAddress = /(^|[._])(address|url)$/.test(key)
  if (!isAddress) place(config, key, resolve(value))
  else if (UNIX.test(value)) place(config, key, `unix:${resolve(value.replace(UNIX, ''))}`)
}

/** A field covers its own key, and a map covers the keys in it. */
const covers = (field: string, key: string): boolean => key === field || key.startsWith(`${field}.`)

function readToml(file: string): Table {
  try {
    return parse(readFileSync(file, 'utf8'), { unsafeKeyBehaviour: 'throw' })
  } catch (error) {
    const [headline] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new FaultError({ kind: 'invalid', what: `cannot read ${file}: ${headline}` }, error)
  }
}

function check(merged: Table, origins: ReadonlyMap<string, string>): Config {
  const originOf = (key: string): string | undefined => {
    for (const [set, origin] of origins) if (covers(key, set) || covers(set, key)) return origin
    return undefined
  }
  // `jitless`: zod would compile the schema first, which takes longer than this one check.
  const { success, data, error } = configSchema.safeParse(merged, { reportInput: true, jitless: true })
  const tables = FIELDS.map((field) => field.table)
  const problems = success
    ? data.server.insecure
      ? []
      : exposedKeys(data).map((key) => `${originOf(key)}: ${exposureProblem(key, String(pickFields(data, key)))}`)
    : problemsOf(error.issues, originOf, [...FIELDS.map((field) => field.key), ...tables])
  if (!success || problems.length > 0) throw new FaultError({ kind: 'invalid', what: problems.join('\n') })
  return data
}

function notesOn(config: Config, unknown: readonly string[]): Note[] {
  const notes: Note[] = [
    {
      level: 'warn',
      what: 'server is reachable from other machines without access control',
      keys: exposedKeys(config),
    },
    { level: 'info', what: 'unknown WINDLASS_* environment variables', keys: unknown },
  ]
  return notes.filter((note) => note.keys.length > 0)
}
