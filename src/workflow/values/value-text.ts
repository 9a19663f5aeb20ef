import { isList, isRecord, type Value } from './value.ts'

/** A value inside a text: JSON with sorted keys; strings are inserted unchanged. */
export const valueText = (value: Value): string => (typeof value === 'string' ? value : jsonText(value))

function jsonText(value: Value): string {
  if (typeof value === 'number') return numberText(value)
  if (isList(value)) return `[${value.map(jsonText).join(', ')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const fields = Object.keys(value).sort()
  return `{${fields.map((key) => `${JSON.stringify(key)}: ${jsonText(value[key] ?? null)}`).join(', ')}}`
}

/** A number in decimal digits: commands may not parse `1e-7`. */
export function numberText(value: number): string {
  const plain = String(value)
  const [, sign = '', whole = '', part = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(plain) ?? []
  if (exponent === undefined) return plain
  const shift = Number(exponent)
  const digits = whole + part
  if (shift < 0) return `${sign}0.${'0'.repeat(-shift - whole.length)}${digits}`
  return sign + digits.padEnd(whole.length + shift, '0')
}
