const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 }

/** Reads a grpc-timeout (at most eight digits and a unit) as milliseconds; undefined when it is malformed. */
export function parseTimeout(text: string): number | undefined {
  const digits = text.length - 1
  if (digits < 1 || digits > 8) return undefined
  const unit = UNIT_MS[text[digits] as string]
  if (unit === undefined) return undefined
  let count = 0
  for (let i = 0; i < digits; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return undefined
    count = count * 10 + digit
  }
  return count * unit
}

/** Writes milliseconds in the finest unit that fits eight digits. */
export function formatTimeout(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms))
  if (whole < 1e8) return `${whole}m`
  const seconds = Math.ceil(whole / 1_000)
  return seconds < 1e8 ? `${seconds}S` : `${Math.min(99_999_999, Math.ceil(seconds / 3_600))}H`
}
