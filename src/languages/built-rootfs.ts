import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'

/** A system that was made for one language: the folder that rooms see, and what is in it. */
export interface BuiltRootfs {
  /** Absolute and without symlinks. */
  readonly path: string
  /** Unlike that of any other. */
  readonly mark: string
  readonly packages: readonly string[]
}

/** `path`: from the folder of records on, or absolute. */
const RECORD = z.object({ path: z.string().min(1), made: z.string().min(1), packages: z.array(z.string()) })
type RootfsRecord = z.infer<typeof RECORD>

const recordFile = (folder: string, language: string): string => join(folder, `${language}.json`)

/** Those in a folder, by the names of their languages. One without its record is not finished, and is not there. */
export function builtRootfs(folder: string): ReadonlyMap<string, BuiltRootfs> {
  const found = new Map<string, BuiltRootfs>()
  for (const file of namesIn(folder)) {
    const language = /^([a-z0-9][a-z0-9+#-]*)\.json$/.exec(file)?.[1]
    const built = language === undefined ? undefined : readBuilt(folder, language)
    if (language !== undefined && built !== undefined) found.set(language, built)
  }
  return found
}

/** Says that it is finished: the last thing that a builder does. */
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
