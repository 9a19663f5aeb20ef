import { invalid } from '../../base/fault.ts'
import { type Evaluator, evaluate } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import { type CwlType, type DataRules, type Listing, typeText } from '../process/cwl-type.ts'
import type { InputParameter, Process, Scope } from '../process/process.ts'
import { findRequirement } from '../process/requirement.ts'
import type { Version } from '../process/version.ts'
import { type DataValue, isDirectory, isFile, mapData, mapDataSlowly, withNames } from '../values/file-value.ts'
import type { Files } from '../values/files.ts'
import type { Ontology } from '../values/ontology.ts'
import { describeValue, field, isList, isRecord, type Value, type ValueRecord } from '../values/value.ts'
import { ListedEntries, withContents, withListing, withSize } from './load-contents.ts'
import { chosenType } from './match-type.ts'
import { withSecondaryFiles } from './secondary-files.ts'

export interface Binding {
  readonly scope: Scope
  readonly evaluator: Evaluator
  readonly files: Files
  readonly ontology?: Ontology
  /**
   * For the outermost process, secondary files are searched for beside the primary file; within a workflow the value
   * must name them.
   */
  readonly discover: boolean
}

/**
 * Returns the complete input object of a process: defaults, checked types, and the contents, listings and secondary
 * files that its parameters require.
 */
export async function bindInputs(process: Process, given: ValueRecord, binding: Binding): Promise<ValueRecord> {
  const plain: [string, Value][] = process.inputs.map((input) => [
    input.name,
    mapData(givenOrDefault(input, given), withNames),
  ])
  for (const [index, input] of process.inputs.entries()) checkType(input, plain[index]?.[1] ?? null)
  const known: [string, Value][] = []
  for (const [name, value] of plain)
    known.push([name, await mapDataSlowly(value, (data) => sized(data, binding.files))])
  const inputs = Object.fromEntries(known) as ValueRecord
  const context: ExpressionContext = { inputs, self: null, runtime: {} }
  const listing = findRequirement(binding.scope, 'LoadListingRequirement')?.loadListing as Listing | undefined
  const bound: [string, Value][] = []
  const count = new ListedEntries()
  for (const input of process.inputs) {
    const rules = { ...input, loadListing: input.loadListing ?? listing ?? 'no_listing' }
    const task: Applying = { rules, binding, context, count, version: process.version, name: input.name }
    bound.push([input.name, await applyRules(field(inputs, input.name) ?? null, input.type, task)])
  }
  return Object.fromEntries(bound)
}

const givenOrDefault = (input: InputParameter, given: ValueRecord): Value =>
  field(given, input.name) ?? input.default ?? null

function checkType(input: InputParameter, value: Value): void {
  if (chosenType(input.type, value) !== undefined) return
  const words = `the input ${input.name} must be ${typeText(input.type)}`
  throw invalid(value === null ? `${words}, and it is not given` : `${words}, not ${describeValue(value)}`)
}

async function sized(data: DataValue, files: Files): Promise<DataValue> {
  if (isFile(data)) return withSize(data, files)
  if (typeof data.location !== 'string' || isList(data.listing)) return data
  const stat = await files.stat(data.location)
  if (stat === undefined) throw invalid(`there is no directory at ${data.location}`)
  return data
}

interface Applying {
  readonly rules: DataRules
  readonly binding: Binding
  readonly context: ExpressionContext
  readonly count: ListedEntries
  readonly version: Version
  readonly name: string
}

/** A parameter's rules for files also apply to files in lists; record fields have their own rules. */
async function applyRules(value: Value, type: CwlType, task: Applying): Promise<Value> {
  const chosen = chosenType(type, value)
  if (isFile(value) && chosen?.type !== 'record') return applyToFile(value, task)
  if (isDirectory(value) && chosen?.type !== 'record') {
    const { binding, rules, count } = task
    return withListing(value, { files: binding.files, listing: rules.loadListing ?? 'no_listing', count })
  }
  if (isList(value)) {
    const items = chosen?.type === 'array' ? chosen.items : ({ type: 'Any' } as const)
    const made: Value[] = []
    for (const one of value) made.push(await applyRules(one, items, task))
    return made
  }
  if (!isRecord(value) || chosen?.type !== 'record') return value
  const made: [string, Value][] = Object.entries(value)
  for (const one of chosen.fields) {
    const loadListing = one.loadListing ?? task.rules.loadListing ?? 'no_listing'
    const inner: Applying = { ...task, rules: { ...one, loadListing }, name: `${task.name}.${one.name}` }
    made.push([one.name, await applyRules(field(value, one.name) ?? null, one.type, inner)])
  }
  return Object.fromEntries(made)
}

async function applyToFile(
  file: Value & DataValue,
  { rules, binding, context, version, name }: Applying,
): Promise<Value> {
  if (!isFile(file)) return file
  await checkFormat(file.format, { rules, binding, context, name })
  const { evaluator, files } = binding
  const complete = await withSecondaryFiles(file, rules.secondaryFiles, {
    context,
    evaluator,
    requiredByDefault: true,
    ...(binding.discover ? { files } : {}),
  })
  return rules.loadContents ? withContents(complete, files, version) : complete
}

async function checkFormat(
  format: Value | undefined,
  { rules, binding, context, name }: Omit<Applying, 'version' | 'count'>,
): Promise<void> {
  if (rules.format.length === 0) return
  const allowed: string[] = []
  for (const one of rules.format) {
    const value = await evaluate(one, context, binding.evaluator)
    allowed.push(...(isList(value) ? value : [value]).filter((word) => typeof word === 'string'))
  }
  if (allowed.length === 0) return
  if (typeof format !== 'string')
    throw invalid(`the file of ${name} has no format, which must be ${allowed.join(' or ')}`)
  if (allowed.some((one) => one === format || binding.ontology?.isKindOf(format, one) === true)) return
  throw invalid(`the file of ${name} has the format ${format}, which is not ${allowed.join(' or ')}`)
}
