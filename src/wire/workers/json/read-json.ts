import { z } from 'zod'
import { invalid } from '../../../base/fault.ts'

/** What is left out may as well be null: that is how some languages write nothing. */
export const maybe = <T extends z.ZodType>(schema: T) =>
  schema
    .nullish()
    .transform((value): z.infer<T> | undefined => value ?? undefined)
    .optional()

/** Longer than any that we give away or keep. */
const LONGEST_TEXT = 4096

/** A name or a word, of a length that one may have, and that survives being sent. */
export const shortText = () =>
  z
    .string()
    .max(LONGEST_TEXT)
    .refine((text) => text.isWellFormed(), 'is no text')

/** By its length, and not by a pattern: of these there may be megabytes. */
export const base64 = () =>
  z.string().transform((text, issues): Uint8Array => {
    const bytes = Buffer.from(text, 'base64')
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    if (text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding) return bytes
    issues.addIssue('is not base64')
    return z.NEVER
  })

/** What was said, checked; throws `invalid` with the place of the first mistake. */
export function readJson<T extends z.ZodType>(schema: T, said: unknown): z.infer<T> {
  const read = schema.safeParse(said)
  if (read.success) return read.data
  const [first] = read.error.issues
  const at = first?.path.map(String).join('.').slice(0, 200)
  throw invalid(`${at ? `${at}: ` : ''}${first?.message ?? 'it cannot be read'}`)
}
