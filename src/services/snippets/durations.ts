/** How long code takes, learned from what ran: by its hash where it ran before, else by its language. */
export interface CodeDurations {
  learn(language: string, codeHash: string, ms: number): void
  /** Undefined when nothing in the language has run yet. */
  estimateMs(language: string, codeHash: string): number | undefined
}

/** How much the newest counts. */
const WEIGHT = 0.3

/** Forgets the code that has not run for longest, so that strangers' code cannot fill the memory. */
export function codeDurations(mostCodes = 4096): CodeDurations {
  const byLanguage = new Map<string, number>()
  const byCode = new Map<string, number>()
  const key = (language: string, codeHash: string): string => `${language}/${codeHash}`
  return {
    learn(language, codeHash, ms) {
      if (!(ms >= 0 && Number.isFinite(ms))) return
      byLanguage.set(language, moved(byLanguage.get(language), ms))
      const code = key(language, codeHash)
      const next = moved(byCode.get(code), ms)
      byCode.delete(code) // to the end of the line
      byCode.set(code, next)
      const oldest = byCode.size > mostCodes ? byCode.keys().next().value : undefined
      if (oldest !== undefined) byCode.delete(oldest)
    },
    estimateMs: (language, codeHash) => byCode.get(key(language, codeHash)) ?? byLanguage.get(language),
  }
}

const moved = (before: number | undefined, ms: number): number =>
  before === undefined ? ms : before + WEIGHT * (ms - before)
