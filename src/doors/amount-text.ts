/**
 * Amounts as the API writes them. Strict: a number, and a unit where there must be one, with nothing around them; what
 * could be read in two ways is not read at all.
 */

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
export const DURATION_FORM = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)$/

/** Whole milliseconds; undefined for what is no duration. Less than a millisecond is one. */
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

/** Whole bytes; undefined for what is no size. */
export function sizeIn(text: string): number | undefined {
  const [, number, unit = ''] = SIZE_FORM.exec(text) ?? []
  return number === undefined ? undefined : Math.round(Number(number) * (SIZE_UNITS[unit] ?? 0))
}

export const CPU_FORM = /^\d{1,4}(\.\d{1,3})?$/

/** Processors' worth of time. */
export const cpusIn = (text: string): number | undefined => (CPU_FORM.test(text) ? Number(text) : undefined)
