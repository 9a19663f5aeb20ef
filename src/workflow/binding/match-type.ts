import { alternatives, type CwlType } from '../process/cwl-type.ts'
import { isData, isFile } from '../values/file-value.ts'
import { field, isList, isRecord, type Value } from '../values/value.ts'

/** Whether a value has a type. `Any` accepts everything except null. */
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

/** For outputs `Any` also accepts null: a tool may return nothing. */
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
      // A whole number that a double cannot represent exactly would reach the command as another number.
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

/** Returns the member of a union type that matches a value. */
export function chosenType(type: CwlType, value: Value): CwlType | undefined {
  if (type.type !== 'union') return matches(type, value) ? type : undefined
  for (const one of type.of) {
    const found = chosenType(one, value)
    if (found !== undefined) return found
  }
  return undefined
}
