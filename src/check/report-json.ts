import { type Result, tally } from './behaviour.ts'

/** The full report for programs. `about` describes the checked server. */
export function jsonReport(about: Readonly<Record<string, string>>, results: readonly Result[]): string {
  const rows = results.map(({ behaviour: { id, service, level, since, sentence }, outcome, ms }) => {
    const { kind, ...details } = outcome
    return { id, service, level, since, sentence, outcome: kind, ...details, ms: Math.round(ms * 1000) / 1000 }
  })
  return `${JSON.stringify({ ...about, summary: tally(results), results: rows }, null, 2)}\n`
}
