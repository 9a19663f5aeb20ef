import { invalid } from '../../base/fault.ts'
import { type Evaluator, evaluate } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import { hasExpression } from '../expressions/scan.ts'
import type { SecondaryFile } from '../process/cwl-type.ts'
import { companionName, companions, type DataValue, type FileValue, isData, withNames } from '../values/file-value.ts'
import type { Files } from '../values/files.ts'
import { escapePath } from '../values/uri.ts'
import { isList, type Value } from '../values/value.ts'

export interface Wanting {
  readonly context: ExpressionContext
  readonly evaluator: Evaluator
  /** Whether a pattern without `required` is required: true for inputs, false for outputs. */
  readonly requiredUnlessSaid: boolean
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
  wanting: Wanting,
): Promise<FileValue> {
  if (patterns.length === 0) return file
  const found: DataValue[] = [...companions(file)]
  const self = { ...wanting.context, self: file }
  const wishes: { readonly wanted: string | DataValue; readonly required: boolean }[] = []
  for (const pattern of patterns) {
    const required = await isRequired(pattern, self, wanting)
    for (const wanted of await wantedBy(file, pattern, { self, wanting })) wishes.push({ wanted, required })
  }
  for (const { wanted, required } of wishes) {
    const name = typeof wanted === 'string' ? wanted : wanted.basename
    if (found.some((one) => one.basename === name)) continue
    const there = typeof wanted === 'string' ? await beside(file, wanted, wanting) : wanted
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
  { evaluator, requiredUnlessSaid }: Wanting,
): Promise<boolean> {
  const { required } = pattern
  if (required === undefined) return requiredUnlessSaid
  return typeof required === 'boolean' ? required : (await evaluate(required, self, evaluator)) === true
}

interface Asking {
  readonly self: ExpressionContext
  readonly wanting: Wanting
}

/** Names, or whole values that an expression returned. */
async function wantedBy(
  file: FileValue,
  { pattern }: SecondaryFile,
  { self, wanting }: Asking,
): Promise<readonly (string | DataValue)[]> {
  if (!hasExpression(pattern)) return [companionName(String(file.basename), pattern)]
  const made = await evaluate(pattern, self, wanting.evaluator)
  const results = isList(made) ? made : [made]
  return results.flatMap((one): (string | DataValue)[] => {
    if (one === null) return []
    if (typeof one === 'string') return [one.startsWith('/') ? one.slice(one.lastIndexOf('/') + 1) : one]
    if (!isData(one)) throw invalid(`the secondaryFiles expression ${pattern} must give names, Files or Directories`)
    const path = typeof one.path === 'string' && one.location === undefined ? one.path : undefined
    return [
      withNames(path === undefined || wanting.locate === undefined ? one : { ...one, location: wanting.locate(path) }),
    ]
  })
}

async function beside(file: FileValue, name: string, { files }: Wanting): Promise<DataValue | undefined> {
  if (files === undefined || typeof file.location !== 'string') return undefined
  if (name.split('/').includes('..')) throw invalid(`the secondary file ${name} is not beside its primary file`)
  const folder = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)
  const location = folder(file.location) + escapePath(name)
  const stat = await files.stat(location)
  if (stat === undefined) return undefined
  const path = typeof file.path === 'string' ? { path: folder(file.path) + name } : {}
  return withNames({ ...stat, location, basename: name.slice(name.lastIndexOf('/') + 1), ...path } as DataValue)
}
