/** The result of one h2spec run. */
export interface Verdict {
  /** Plaintext or TLS. */
  readonly over: string
  readonly tests: number
  readonly passed: number
  readonly skipped: number
  readonly failed: number
}

/** A run with fewer tests was incomplete, whatever its summary states. */
const LEAST_TESTS = 140

export function readVerdict(over: string, output: string): Verdict {
  const counts = /(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed/.exec(output) ?? []
  const [tests = 0, passed = 0, skipped = 0, failed = 0] = counts.slice(1).map(Number)
  return { over, tests, passed, skipped, failed }
}

export const isFlawless = ({ tests, passed, skipped, failed }: Verdict): boolean =>
  tests >= LEAST_TESTS && passed === tests && skipped === 0 && failed === 0
