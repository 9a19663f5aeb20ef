import { invalid } from '../../../base/fault.ts'

const UNITS: Readonly<Record<string, number>> = { '': 1000, ms: 1, s: 1000, m: 60_000 }

/** The maximum wait of a request, in milliseconds: `30s`, `500ms`, `1m`, or a bare number of seconds. */
export function waitTime(text: string | undefined, mostMs: number): number {
  if (text === undefined) return 0
  const [, number, unit = ''] = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m|)$/.exec(text) ?? []
  if (number === undefined) throw invalid(`wait: ${JSON.stringify(text.slice(0, 50))} is no time such as 30s or 500ms`)
  return Math.min(mostMs, Number(number) * (UNITS[unit] ?? 0))
}
