import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { Language } from '../../model/language.ts'

/** How the self-test of a language ended. */
export type SelfTestResult =
  | { readonly outcome: 'passed'; readonly version: string }
  | { readonly outcome: 'failed' | 'absent'; readonly what: string }

/** The results of self-tests at earlier starts, so that only the first start on a toolchain waits for them. */
export interface SelfTestResults {
  /** Undefined when the language was not tested in this state of its toolchain. */
  recall(key: string): SelfTestResult | undefined
  remember(name: string, key: string, result: SelfTestResult): void
}

/** Hashes everything that a result depends on: the language's file, its toolchain, and the kind of room. */
export const selfTestKey = (language: Language, ...surroundings: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([language, ...surroundings]))
    .digest('hex')

const RESULT = z.union([
  z.object({ outcome: z.literal('passed'), version: z.string().regex(/^[\w.+~-]{1,50}$/) }),
  z.object({ outcome: z.enum(['failed', 'absent']), what: z.string().max(2000) }),
])
const FORM = z.record(z.string(), z.array(z.object({ key: z.string(), result: RESULT })))
type Known = z.infer<typeof FORM>

/** Workers with different backends share one file, and a toolchain may be downgraded again. */
const MOST_PER_LANGUAGE = 8
const MOST_WORDS = 2000

/**
 * Stores results in a JSON file. A file that cannot be read counts as empty. If it cannot be written, the next start
 * tests again.
 */
export function selfTestResultsIn(file: string): SelfTestResults {
  let known = read(file)
  return {
    recall: (key) =>
      Object.values(known)
        .flat()
        .find((each) => each.key === key)?.result,
    remember(name, key, result) {
      known = merged(read(file), known) // another worker of this machine may have written the file since
      const others = (known[name] ?? []).filter((each) => each.key !== key)
      const kept = result.outcome === 'passed' ? result : { ...result, what: result.what.slice(0, MOST_WORDS) }
      known[name] = [{ key, result: kept }, ...others].slice(0, MOST_PER_LANGUAGE)
      try {
        mkdirSync(dirname(file), { recursive: true })
        const fresh = `${file}.${key.slice(0, 8)}`
        writeFileSync(fresh, JSON.stringify(known, undefined, 1))
        renameSync(fresh, file)
      } catch {
        // ignored: the next start tests again
      }
    },
  }
}

/** For a key in both, the entry of `ours` counts. */
function merged(theirs: Known, ours: Known): Known {
  const both: Known = { ...theirs }
  for (const [name, entries] of Object.entries(ours)) {
    const keys = new Set(entries.map(({ key }) => key))
    both[name] = [...entries, ...(theirs[name] ?? []).filter(({ key }) => !keys.has(key))]
  }
  return both
}

function read(file: string): Known {
  try {
    return FORM.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}
