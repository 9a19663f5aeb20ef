import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'

/** A root file system that was built for one language: its folder, and its packages. */
export interface BuiltRootfs {
  /** Absolute and without symlinks. */
  readonly path: string
  /** Unique. */
  readonly mark: string
  readonly packages: readonly string[]
}

/** `path`: relative to the folder of records, or absolute. */
const RECORD = z.object({ path: z.string().min(1), made: z.string().min(1), packages: z.array(z.string()) })
type RootfsRecord = z.infer<typeof RECORD>

const recordFile = (folder: string, language: string): string => join(folder, `${language}.json`)

/** Those in a folder, by language. One without its record is unfinished and is ignored. */
export function builtRootfs(folder: string): ReadonlyMap<string, BuiltRootfs> {
  const found = new Map<string, BuiltRootfs>()
  for (const file of namesIn(folder)) {
    const language = /^([a-z0-9][a-z0-9+#-]*)\.json$/.exec(file)?.[1]
    const built = language === undefined ? undefined : readBuilt(folder, language)
    if (language !== undefined && built !== undefined) found.set(language, built)
  }
  return found
}

/** Marks it as finished: the last step of a build. */
export function recordRootfs(folder: string, language: string, record: RootfsRecord): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const fresh = `${recordFile(folder, language)}.new`
  writeFileSync(fresh, `${JSON.stringify(record)}\n`)
  renameSync(fresh, recordFile(folder, language))
}

function readBuilt(folder: string, language: string): BuiltRootfs | undefined {
  try {
    const record = RECORD.parse(JSON.parse(readFileSync(recordFile(folder, language), 'utf8')))
    const { made, packages } = record
    const path = realpathSync(resolve(folder, record.path))
    return statSync(path).isDirectory() ? { path, mark: `${path} ${made}`, packages } : undefined
  } catch {
    return undefined
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
