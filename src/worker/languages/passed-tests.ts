import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { Language } from '../../model/language.ts'

/** What is known of self-tests from earlier starts, so that only the first one takes its time. */
export interface PassedTests {
  /** The version that passed; undefined when it is not known to pass as it is now. */
  recall(key: string): string | undefined
  remember(name: string, passed: { readonly key: string; readonly version: string }): void
}

/** All that a pass depends on: the toolchain, the language's file, and where it ran. */
export const passKey = (language: Language, ...surroundings: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([language, ...surroundings]))
    .digest('hex')

const FORM = z.record(z.string(), z.strictObject({ key: z.string(), version: z.string().regex(/^[\w.+~-]{1,50}$/) }))

/** In a file. One that cannot be read is as good as none, and one that cannot be written costs another test. */
export function passedTestsIn(file: string): PassedTests {
  let known = read(file)
  return {
    recall: (key) => Object.values(known).find((passed) => passed.key === key)?.version,
    remember(name, passed) {
      // Another worker of this machine may have written meanwhile.
      known = { ...read(file), ...known, [name]: passed }
      try {
        mkdirSync(dirname(file), { recursive: true })
        const fresh = `${file}.${passed.key.slice(0, 8)}`
        writeFileSync(fresh, JSON.stringify(known, undefined, 1))
        renameSync(fresh, file)
      } catch {
        // as above
      }
    },
  }
}

function read(file: string): z.infer<typeof FORM> {
  try {
    return FORM.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}
