import { alternatives, type CwlType } from '../process/cwl-type.ts'
import { isData, isFile } from '../values/file-value.ts'
import { field, isList, isRecord, type Value } from '../values/value.ts'

/** Whether a value is of a type. `Any` is everything but null. */
function matches(type: CwlType, value: Value): boolean {
  switch (type.type) {
    case 'union':
      return type.of.some((one) => matches(one, value))
    case 'array':
      return isList(value) && value.every((one) => matches(type.items, one))
    case 'record':
      return (
        isRecord(value) &&
        !isData(value) &&
        type.fields.every((one) => matches(one.type, field(value, one.name) ?? null))
      )
    case 'enum':
      return typeof value === 'string' && type.symbols.includes(value)
    default:
      return matchesPrimitive(type.type, value)
  }
}

/** For outputs `Any` really is anything: a tool may have nothing to give. */
export const matchesOutput = (type: CwlType, value: Value): boolean =>
  matches(type, value) || (value === null && alternatives(type).some((one) => one.type === 'Any'))

function matchesPrimitive(name: string, value: Value): boolean {
  switch (name) {
    case 'null':
      return value === null
    case 'Any':
      return value !== null
    case 'int':
      return Number.isInteger(value) && Number(value) >= -(2 ** 31) && Number(value) < 2 ** 31
    case 'long':
      // What a double cannot hold to the digit would reach the command as another number.
      return Number.isSafeInteger(value)
    case 'float':
    case 'double':
      return typeof value === 'number'
    case 'File':
      return isFile(value)
    case 'Directory':
      return isRecord(value) && value.class === 'Directory'
    default:
      return typeof value === name
  }
}

/** The alternative of a union that a value is of. */
export function chosenType(type: CwlType, value: Value): CwlType | undefined {
  if (type.type !== 'union') return matches(type, value) ? type : undefined
  for (const one of type.of) {
    const found = chosenType(one, value)
    if (found !== undefined) return found
  }
  return undefined
}
