import { invalid } from '../../base/fault.ts'
import { withContents, withListing, withSize } from '../binding/load-contents.ts'
import { matchesOutput } from '../binding/match-type.ts'
import { withSecondaryFiles } from '../binding/secondary-files.ts'
import { type Evaluator, evaluate } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import {
  alternatives,
  type CwlType,
  type DataRules,
  type Listing,
  mayBeNull,
  type OutputBinding,
  typeText,
} from '../process/cwl-type.ts'
import type { CommandLineTool, Scope } from '../process/process.ts'
import { findRequirement } from '../process/requirement.ts'
import { type DataValue, isDirectory, isFile, nameParts } from '../values/file-value.ts'
import type { Files } from '../values/files.ts'
import { remembering } from '../values/remembering.ts'
import { escapePath } from '../values/uri.ts'
import { describeValue, isList, isRecord, type Value, type ValueRecord } from '../values/value.ts'
import { glob, type Match } from './glob.ts'
import { leaveRoom, locationsIn, type WayOut } from './leave-room.ts'
import { readOutputJson } from './output-json.ts'
import type { ToolCommand } from './tool-command.ts'

export interface Collection {
  readonly tool: CommandLineTool
  readonly scope: Scope
  readonly command: ToolCommand
  readonly exitCode: number
  readonly evaluator: Evaluator
  readonly files: Files
  /** The location of the working directory after the command, without a trailing slash. */
  readonly outdirLocation: string
  /** The limit for the size of `cwl.output.json`. */
  readonly outputJsonBytes: number
}

interface OutputRules extends DataRules {
  readonly type: CwlType
  readonly binding?: OutputBinding
  readonly name: string
}

/** Returns the output object of a finished command. */
export async function collectToolOutputs(given: Collection): Promise<ValueRecord> {
  const collection = { ...given, files: remembering(given.files) }
  const { tool, command } = collection
  let inputLocations: ReadonlySet<string> | undefined
  const way: WayOut = {
    outdir: command.room.outdir,
    outdirLocation: collection.outdirLocation,
    staged: command.staged,
    inputLocations: () => (inputLocations ??= new Set(locationsIn(command.inputs))),
  }
  const written = await readOutputJson(way, collection.files, collection.outputJsonBytes)
  const entries: [string, Value][] = []
  for (const output of tool.outputs) {
    const rules: OutputRules = { ...output, ...(output.binding === undefined ? {} : { binding: output.binding }) }
    const value = written === undefined ? await collectOne(rules, collection, way) : (written[output.name] ?? null)
    const placed = await leaveRoom(value, way, collection.files)
    const complete = written === undefined ? placed : await dressed(placed, rules, { collection, way })
    if (!matchesOutput(output.type, complete)) {
      throw invalid(`the output ${output.name} must be ${typeText(output.type)}, not ${describeValue(complete)}`)
    }
    entries.push([output.name, withoutPaths(complete)])
  }
  return Object.fromEntries(entries)
}

const contextOf = ({ command, exitCode }: Collection, self: Value): ExpressionContext => ({
  inputs: command.inputs,
  self,
  runtime: { ...command.runtime, exitCode },
})

async function collectOne(rules: OutputRules, collection: Collection, way: WayOut): Promise<Value> {
  const { type } = rules
  const binding = rules.binding ?? bindingOfType(type)
  const record = alternatives(type).find((one) => one.type === 'record')
  if (binding === undefined) {
    if (record?.type !== 'record') return null
    const fields: [string, Value][] = []
    for (const { binding: _, outputBinding, ...field } of record.fields) {
      const inner: OutputRules = { ...field, ...(outputBinding === undefined ? {} : { binding: outputBinding }) }
      fields.push([field.name, await collectOne(inner, collection, way)])
    }
    return Object.fromEntries(fields)
  }
  const found = await matched(binding, collection, way)
  const made =
    binding.outputEval === undefined
      ? found
      : await evaluate(binding.outputEval, contextOf(collection, found), collection.evaluator)
  return dressed(single(made, rules, binding), rules, { collection, way })
}

const bindingOfType = (type: CwlType): OutputBinding | undefined =>
  type.type === 'array' || type.type === 'record' || type.type === 'enum' ? type.outputBinding : undefined

async function matched(binding: OutputBinding, collection: Collection, way: WayOut): Promise<Value> {
  const { files, evaluator, tool, scope } = collection
  const patterns: Value[] = []
  for (const one of binding.glob) {
    const value = await evaluate(one, contextOf(collection, null), evaluator)
    patterns.push(...(isList(value) ? value : [value]).filter((word) => word !== null))
  }
  const found: Value[] = []
  for (const pattern of patterns) {
    if (typeof pattern !== 'string') throw invalid(`a glob must be text, not ${describeValue(pattern)}`)
    for (const match of await glob(withinOutdir(pattern, way), way.outdirLocation, files)) {
      const listing =
        binding.loadListing ?? (findRequirement(scope, 'LoadListingRequirement')?.loadListing as Listing | undefined)
      const data = await seen(match, way, { files, listing: listing ?? 'no_listing' })
      found.push(binding.loadContents && isFile(data) ? await withContents(data, files, tool.version) : data)
    }
  }
  return found
}

function withinOutdir(pattern: string, { outdir }: WayOut): string {
  if (!pattern.startsWith('/')) return pattern
  if (pattern === outdir || pattern.startsWith(`${outdir}/`)) return pattern.slice(outdir.length + 1)
  throw invalid(`the glob ${pattern} is outside of the working directory`)
}

async function seen(
  { class: kind, path, location }: Match,
  way: WayOut,
  { files, listing }: { files: Files; listing: Listing },
): Promise<DataValue> {
  const whole = path === '' ? way.outdir : `${way.outdir}/${path}`
  const basename = whole.slice(whole.lastIndexOf('/') + 1)
  const data = { class: kind, location, path: whole, basename } as DataValue
  if (isDirectory(data)) return withListing(data, { files, listing })
  return isFile(data) ? withSize({ ...data, ...nameParts(basename) }, files) : data
}

/** A single file is expected and a list was found: it must contain one, or none if the output is optional. */
function single(value: Value, { type, name }: OutputRules, binding: OutputBinding): Value {
  const kinds = alternatives(type)
  const wantsOne = kinds.some((one) => one.type === 'File' || one.type === 'Directory')
  const takesList = kinds.some((one) => one.type === 'array')
  if (!wantsOne || !isList(value) || (takesList && value.length !== 1)) {
    return isList(value) && value.length === 0 && !takesList && mayBeNull(type) ? null : value
  }
  const [only] = value
  if (value.length > 1)
    throw invalid(`the output ${name} is one file, but ${value.length} match ${binding.glob.join(', ')}`)
  if (only !== undefined) return only
  if (mayBeNull(type)) return null
  throw invalid(`the output ${name} is missing: nothing matches ${binding.glob.join(', ')}`)
}

interface Dressing {
  readonly collection: Collection
  readonly way: WayOut
}

/** Adds secondary files and formats to a file, or to each file of a list. */
async function dressed(value: Value, rules: OutputRules, { collection, way }: Dressing): Promise<Value> {
  if (isList(value)) {
    const list: Value[] = []
    for (const one of value) list.push(await dressed(one, rules, { collection, way }))
    return list
  }
  if (!isFile(value)) return value
  const { files, evaluator } = collection
  const complete = await withSecondaryFiles(value, rules.secondaryFiles, {
    context: contextOf(collection, value),
    evaluator,
    requiredByDefault: false,
    files,
    locate: (path) =>
      path.startsWith(`${way.outdir}/`)
        ? `${way.outdirLocation}/${escapePath(path.slice(way.outdir.length + 1))}`
        : path,
  })
  const [format] = rules.format
  if (format === undefined) return complete
  const named = await evaluate(format, contextOf(collection, value), evaluator)
  return typeof named === 'string' ? { ...complete, format: named } : complete
}

/** Removes paths, which are valid only inside the room. */
function withoutPaths(value: Value): Value {
  if (isList(value)) return value.map(withoutPaths)
  if (!isRecord(value)) return value
  const isPlace = isFile(value) || isDirectory(value)
  const kept = Object.entries(value).filter(([key]) => !(isPlace && (key === 'path' || key === 'dirname')))
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutPaths(one)]))
}
