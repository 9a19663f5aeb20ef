import { createHash } from 'node:crypto'
import type { SnippetRequest } from '../../model/snippet.ts'

/** Run times learned from ended tasks: by the hash of the code when it ran before, else by its language. */
export interface CodeDurations {
  learn(language: string, codeHash: string, ms: number): void
  /** Undefined when no task in the language has ended yet. */
  estimateMs(language: string, codeHash: string): number | undefined
}

/** The weight of the newest run. */
const WEIGHT = 0.3

/** Keeps at most `mostCodes` hashes, the last used ones: clients can send any number of programs. */
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
      byCode.delete(code) // makes it the newest entry of the map
      byCode.set(code, next)
      const oldest = byCode.size > mostCodes ? byCode.keys().next().value : undefined
      if (oldest !== undefined) byCode.delete(oldest)
    },
    estimateMs: (language, codeHash) => byCode.get(key(language, codeHash)) ?? byLanguage.get(language),
  }
}

const moved = (before: number | undefined, ms: number): number =>
  before === undefined ? ms : before + WEIGHT * (ms - before)

/** Hash of the code: runs with the same code take about the same time. */
export function codeHashOf({ files }: Pick<SnippetRequest, 'files'>): string {
  const hash = createHash('sha256')
  for (const { contents } of files) hash.update(`${contents.length} `).update(contents.subarray(0, 64 * 1024))
  return hash.digest('base64url')
}
