/**
 * Amounts in the format of the API. The parser is strict: a number, a unit where one is required, and no other
 * characters. An ambiguous text is invalid.
 */

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
export const DURATION_FORM = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)$/

/** Returns whole milliseconds, at least 1; undefined for a text that is not a duration. */
export function durationIn(text: string): number | undefined {
  const [, number, unit = ''] = DURATION_FORM.exec(text) ?? []
  if (number === undefined) return undefined
  const ms = Number(number) * (DURATION_UNITS[unit] ?? 0)
  return ms > 0 ? Math.max(1, Math.round(ms)) : 0
}

/** `1.2s`: seconds, to the millisecond. */
export const durationText = (ms: number): string => `${Number((Math.max(0, ms) / 1000).toFixed(3))}s`

const SIZE_UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
}
export const SIZE_FORM = /^(\d{1,12}(?:\.\d{1,6})?)(B|KB|MB|GB|KiB|MiB|GiB)$/

/** Returns whole bytes; undefined for a text that is not a size. */
export function sizeIn(text: string): number | undefined {
  const [, number, unit = ''] = SIZE_FORM.exec(text) ?? []
  return number === undefined ? undefined : Math.round(Number(number) * (SIZE_UNITS[unit] ?? 0))
}

export const CPU_FORM = /^\d{1,4}(\.\d{1,3})?$/

/** Returns a number of processors. */
export const cpusIn = (text: string): number | undefined => (CPU_FORM.test(text) ? Number(text) : undefined)
