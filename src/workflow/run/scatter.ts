import { invalid } from '../../base/fault.ts'
import type { Step } from '../process/process.ts'
import { describeValue, field, isList, type Value, type ValueRecord } from '../values/value.ts'

export interface Scattered {
  /** The lengths along which outputs are nested; one number for all methods except nested_crossproduct. */
  readonly shape: readonly number[]
  readonly inputs: readonly ValueRecord[]
}

/** More instances than this are considered an error, and would exhaust memory. */
const MOST_TURNS = 1_000_000

/** Returns one input object for each element, or each combination of elements, of the scattered inputs. */
export function scatter(step: Step, inputs: ValueRecord): Scattered {
  const lists = step.scatter.map((name) => {
    const value = field(inputs, name) ?? null
    if (isList(value)) return value
    throw invalid(`the step ${step.name} scatters over ${name}, which must be a list, not ${describeValue(value)}`)
  })
  const lengths = lists.map((one) => one.length)
  if (step.scatterMethod === 'dotproduct') {
    const [length = 0] = lengths
    if (lengths.some((one) => one !== length)) {
      throw invalid(
        `the step ${step.name} pairs lists of different lengths: ${step.scatter.map((name, at) => `${name} has ${lengths[at]}`).join(', ')}`,
      )
    }
    const rows = Array.from({ length }, (_, at) => lists.map((one) => one[at] ?? null))
    return { shape: [length], inputs: rows.map((row) => withRow(step, inputs, row)) }
  }
  const count = lengths.reduce((product, one) => product * one, 1)
  if (count > MOST_TURNS) throw invalid(`the step ${step.name} would be ${count} turns, more than ${MOST_TURNS}`)
  const rows = lists.reduce<Value[][]>((made, list) => made.flatMap((row) => list.map((one) => [...row, one])), [[]])
  const shape = step.scatterMethod === 'nested_crossproduct' ? lengths : [count]
  return { shape, inputs: rows.map((row) => withRow(step, inputs, row)) }
}

const withRow = (step: Step, inputs: ValueRecord, row: readonly Value[]): ValueRecord =>
  Object.fromEntries([
    ...Object.entries(inputs),
    ...step.scatter.map((name, at): [string, Value] => [name, row[at] ?? null]),
  ])

/** Returns the outputs of all instances as lists that are nested according to the shape. */
export const unscatter = (
  names: readonly string[],
  shape: readonly number[],
  turns: readonly ValueRecord[],
): ValueRecord =>
  Object.fromEntries(
    names.map((name) => [
      name,
      nest(
        turns.map((one) => field(one, name) ?? null),
        shape,
      ),
    ]),
  )

function nest(values: readonly Value[], shape: readonly number[]): readonly Value[] {
  const [length = 0, ...rest] = shape
  if (rest.length === 0) return values
  const size = rest.reduce((product, one) => product * one, 1)
  return Array.from({ length }, (_, at) => nest(values.slice(at * size, (at + 1) * size), rest))
}
