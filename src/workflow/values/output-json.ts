import type { ValueRecord } from './value.ts'
import { numberText } from './value-text.ts'

/** From this value on JSON uses an exponent, which readers that expect integers misread. */
const EXPONENT_FROM = 1e21

/** `rawJSON` is newer than the type declarations that we compile with. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** Prints an output object: integers with all their digits. */
export const outputJson = (outputs: ValueRecord): string =>
  JSON.stringify(
    outputs,
    (_, value: unknown) =>
      typeof value === 'number' && Math.abs(value) >= EXPONENT_FROM ? rawJSON(numberText(value)) : value,
    4,
  )
