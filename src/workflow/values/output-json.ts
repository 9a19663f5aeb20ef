import type { ValueRecord } from './value.ts'
import { numberText } from './value-text.ts'

/** From here on JSON has an exponent, and whoever reads whole numbers exactly takes it for another number. */
const EXPONENT_FROM = 1e21

/** `rawJSON` is newer than the declarations that we compile with. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** An output object as it is printed: whole numbers in all their digits. */
export const outputJson = (outputs: ValueRecord): string =>
  JSON.stringify(
    outputs,
    (_, value: unknown) =>
      typeof value === 'number' && Math.abs(value) >= EXPONENT_FROM ? rawJSON(numberText(value)) : value,
    4,
  )
