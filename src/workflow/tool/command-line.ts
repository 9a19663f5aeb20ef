import { invalid } from '../../base/fault.ts'
import { chosenType } from '../binding/match-type.ts'
import { type Evaluator, evaluate } from '../expressions/evaluate.ts'
import type { ExpressionContext } from '../expressions/expressions.ts'
import type { CwlType, InputBinding } from '../process/cwl-type.ts'
import type { CommandLineTool } from '../process/process.ts'
import { isData } from '../values/file-value.ts'
import { field, isList, isRecord, type Value } from '../values/value.ts'
import { valueText } from '../values/value-text.ts'

type Key = readonly (number | string)[]

/** One part of the command line and its sort key: keys are compared element by element, numbers before names. */
interface Part {
  readonly key: Key
  readonly binding: InputBinding
  readonly datum: Value
}

export interface Argument {
  readonly text: string
  readonly quote: boolean
}

const PLAIN: InputBinding = { separate: true, shellQuote: true }

interface Line {
  readonly context: ExpressionContext
  readonly evaluator: Evaluator
}

/** The arguments of a command in order: base command, then arguments and inputs by position. */
export async function commandLine(tool: CommandLineTool, line: Line): Promise<readonly Argument[]> {
  const parts: Part[] = []
  for (const [index, argument] of tool.arguments.entries()) parts.push(await argumentPart(argument, index, line))
  for (const input of tool.inputs) {
    const value = field(line.context.inputs, input.name) ?? null
    parts.push(
      ...(await bind({ type: input.type, ...(input.binding ? { binding: input.binding } : {}) }, value, {
        lead: [],
        tail: [input.name],
        line,
      })),
    )
  }
  const ordered = parts
    .map((part, index) => ({ part, index }))
    .sort((a, b) => compareKeys(a.part.key, b.part.key) || a.index - b.index)
  const made = tool.baseCommand.map((text): Argument => ({ text, quote: true }))
  for (const { part } of ordered) made.push(...(await argumentsOf(part, line)))
  return made
}

async function argumentPart(argument: string | InputBinding, index: number, line: Line): Promise<Part> {
  if (typeof argument === 'string') return { key: [0, index], binding: { ...PLAIN, valueFrom: argument }, datum: null }
  return { key: [await positionOf(argument, null, line), index], binding: argument, datum: null }
}

async function positionOf({ position }: InputBinding, self: Value, { context, evaluator }: Line): Promise<number> {
  if (position === undefined) return 0
  if (typeof position === 'number') return position
  const value = await evaluate(position, { ...context, self }, evaluator)
  if (value === null) return 0
  if (typeof value === 'number' && Number.isInteger(value)) return value
  throw invalid(`the position ${position} must give a whole number`)
}

interface Where {
  readonly lead: Key
  readonly tail: Key
  readonly line: Line
}

interface Bindable {
  readonly type: CwlType
  readonly binding?: InputBinding
}

/** Returns the arguments of a value: its own, if it has a binding, and those of its elements. */
async function bind({ type, binding }: Bindable, datum: Value, where: Where): Promise<readonly Part[]> {
  if (datum === null) return []
  const chosen = chosenType(type, datum) ?? type
  const key =
    binding === undefined ? undefined : [...where.lead, await positionOf(binding, datum, where.line), ...where.tail]
  const inner =
    binding?.valueFrom === undefined
      ? await innerParts({ type: chosen, ...(binding ? { binding } : {}) }, datum, where)
      : []
  if (key === undefined || binding === undefined) return inner
  return [{ key, binding, datum }, ...inner.map((part) => ({ ...part, key: [...key, ...part.key] }))]
}

async function innerParts({ type, binding }: Bindable, datum: Value, where: Where): Promise<readonly Part[]> {
  if (type.type === 'record' && isRecord(datum)) {
    const fields: Part[] = []
    for (const one of type.fields)
      fields.push(...(await bind(one, field(datum, one.name) ?? null, { ...where, tail: [one.name] })))
    return bindType(type.binding, { datum, where, inner: fields })
  }
  if (type.type === 'array' && isList(datum)) {
    // Without a separator the elements of a list are separate arguments, even without a binding of their own.
    const each = type.binding ?? (binding !== undefined && binding.itemSeparator === undefined ? PLAIN : undefined)
    const items: Part[] = []
    for (const [index, item] of datum.entries()) {
      const inner = { ...where, lead: [...where.lead, index], tail: [] }
      items.push(...(await bind({ type: type.items, ...(each ? { binding: each } : {}) }, item, inner)))
    }
    return items
  }
  if (type.type === 'enum' && type.binding !== undefined) return bindType(type.binding, { datum, where, inner: [] })
  return []
}

/** A binding of the type: it comes between the parameter's own and those of the elements. */
async function bindType(
  binding: InputBinding | undefined,
  { datum, where, inner }: { datum: Value; where: Where; inner: readonly Part[] },
): Promise<readonly Part[]> {
  if (binding === undefined) return inner
  const key = [...where.lead, await positionOf(binding, datum, where.line), ...where.tail]
  return [{ key, binding, datum }, ...inner.map((part) => ({ ...part, key: [...key, ...part.key] }))]
}

export function compareKeys(a: Key, b: Key): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const [left, right] = [a[index], b[index]]
    if (left === undefined) return -1
    if (right === undefined) return 1
    if (left === right) continue
    if (typeof left !== typeof right) return typeof left === 'number' ? -1 : 1
    return left < right ? -1 : 1
  }
  return 0
}

async function argumentsOf({ binding, datum }: Part, { context, evaluator }: Line): Promise<readonly Argument[]> {
  const { prefix, separate, itemSeparator, shellQuote, valueFrom } = binding
  const value = valueFrom === undefined ? datum : await evaluate(valueFrom, { ...context, self: datum }, evaluator)
  const made = (texts: readonly string[]): readonly Argument[] => texts.map((text) => ({ text, quote: shellQuote }))
  const lone = prefix === undefined ? [] : [prefix]
  if (isList(value)) {
    if (value.length === 0) return []
    if (itemSeparator !== undefined)
      return made(prefixed(value.map(argumentText).join(itemSeparator), prefix, separate))
    return made(valueFrom === undefined ? lone : [...lone, ...value.map(argumentText)])
  }
  if (value === null || value === false) return []
  if (value === true || (isRecord(value) && !isData(value))) return made(lone)
  return made(prefixed(argumentText(value), prefix, separate))
}

function prefixed(text: string, prefix: string | undefined, separate: boolean): readonly string[] {
  if (prefix === undefined) return [text]
  return separate ? [prefix, text] : [prefix + text]
}

function argumentText(value: Value): string {
  if (!isData(value)) return valueText(value)
  if (typeof value.path === 'string') return value.path
  throw invalid(`a ${value.class} on a command line needs a path`)
}

/** Joins arguments for a shell; those with `shellQuote: false` are not quoted. */
export const shellLine = (line: readonly Argument[]): string =>
  line.map(({ text, quote }) => (quote ? shellQuoted(text) : text)).join(' ')

const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`
