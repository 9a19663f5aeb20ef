import { invalid } from '../../base/fault.ts'
import { type Evaluator, evaluate } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import { hasExpression } from '../expressions/scan.ts'
import type { SecondaryFile } from '../process/cwl-type.ts'
import { companionName, companions, type DataValue, type FileValue, isData, withNames } from '../values/file-value.ts'
import type { Files } from '../values/files.ts'
import { escapePath } from '../values/uri.ts'
import { isList, type Value } from '../values/value.ts'

export interface SecondaryFileSearch {
  readonly context: ExpressionContext
  readonly evaluator: Evaluator
  /** Whether a pattern without `required` is required: true for inputs, false for outputs. */
  readonly requiredByDefault: boolean
  /**
   * Searches beside the primary file for files that the value does not name; undefined when the named ones are
   * complete.
   */
  readonly files?: Files
  /** For outputs: maps a path of the room to a location. */
  readonly locate?: (path: string) => string
}

/** Adds the secondary files that the patterns require. */
export async function withSecondaryFiles(
  file: FileValue,
  patterns: readonly SecondaryFile[],
  search: SecondaryFileSearch,
): Promise<FileValue> {
  if (patterns.length === 0) return file
  const found: DataValue[] = [...companions(file)]
  const self = { ...search.context, self: file }
  const needed: { readonly entry: string | DataValue; readonly required: boolean }[] = []
  for (const pattern of patterns) {
    const required = await isRequired(pattern, self, search)
    for (const entry of await filesOfPattern(file, pattern, { self, search })) needed.push({ entry, required })
  }
  for (const { entry, required } of needed) {
    const name = typeof entry === 'string' ? entry : entry.basename
    if (found.some((one) => one.basename === name)) continue
    const there = typeof entry === 'string' ? await beside(file, entry, search) : entry
    if (there === undefined && required) throw missing(file, name)
    if (there !== undefined) found.push(there)
  }
  return found.length === 0 ? file : { ...file, secondaryFiles: found }
}

const missing = (file: FileValue, name: Value | undefined) =>
  invalid(`${String(file.basename ?? file.location)} needs the secondary file ${String(name)}, and it is not there`)

async function isRequired(
  pattern: SecondaryFile,
  self: ExpressionContext,
  { evaluator, requiredByDefault }: SecondaryFileSearch,
): Promise<boolean> {
  const { required } = pattern
  if (required === undefined) return requiredByDefault
  return typeof required === 'boolean' ? required : (await evaluate(required, self, evaluator)) === true
}

interface Asking {
  readonly self: ExpressionContext
  readonly search: SecondaryFileSearch
}

/** Returns names, or whole values that an expression returned. */
async function filesOfPattern(
  file: FileValue,
  { pattern }: SecondaryFile,
  { self, search }: Asking,
): Promise<readonly (string | DataValue)[]> {
  if (!hasExpression(pattern)) return [companionName(String(file.basename), pattern)]
  const made = await evaluate(pattern, self, search.evaluator)
  const results = isList(made) ? made : [made]
  return results.flatMap((one): (string | DataValue)[] => {
    if (one === null) return []
    if (typeof one === 'string') return [one.startsWith('/') ? one.slice(one.lastIndexOf('/') + 1) : one]
    if (!isData(one)) throw invalid(`the secondaryFiles expression ${pattern} must give names, Files or Directories`)
    const path = typeof one.path === 'string' && one.location === undefined ? one.path : undefined
    return [
      withNames(path === undefined || search.locate === undefined ? one : { ...one, location: search.locate(path) }),
    ]
  })
}

async function beside(file: FileValue, name: string, { files }: SecondaryFileSearch): Promise<DataValue | undefined> {
  if (files === undefined || typeof file.location !== 'string') return undefined
  if (name.split('/').includes('..')) throw invalid(`the secondary file ${name} is not beside its primary file`)
  const folder = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)
  const location = folder(file.location) + escapePath(name)
  const stat = await files.stat(location)
  if (stat === undefined) return undefined
  const path = typeof file.path === 'string' ? { path: folder(file.path) + name } : {}
  return withNames({ ...stat, location, basename: name.slice(name.lastIndexOf('/') + 1), ...path } as DataValue)
}
