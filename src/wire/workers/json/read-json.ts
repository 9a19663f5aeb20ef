import { z } from 'zod'
import { invalid } from '../../../base/fault.ts'

/** Accepts null as well as a missing field: encoders of some languages write null for an unset field. */
export const maybe = <T extends z.ZodType>(schema: T) =>
  schema
    .nullish()
    .transform((value): z.infer<T> | undefined => value ?? undefined)
    .optional()

/** All names that the server assigns or stores are shorter. */
const LONGEST_TEXT = 4096

/** A name of at most LONGEST_TEXT characters in valid Unicode. */
export const shortText = () =>
  z
    .string()
    .max(LONGEST_TEXT)
    .refine((text) => text.isWellFormed(), 'is no text')

/** Checks the length, not a pattern: the text can have several megabytes. */
export const base64 = () =>
  z.string().transform((text, issues): Uint8Array => {
    const bytes = Buffer.from(text, 'base64')
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    if (text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding) return bytes
    issues.addIssue('is not base64')
    return z.NEVER
  })

/** Validates a JSON value; throws `invalid` with the path of the first error. */
export function readJson<T extends z.ZodType>(schema: T, json: unknown): z.infer<T> {
  const read = schema.safeParse(json)
  if (read.success) return read.data
  const [first] = read.error.issues
  const at = first?.path.map(String).join('.').slice(0, 200)
  throw invalid(`${at ? `${at}: ` : ''}${first?.message ?? 'it cannot be read'}`)
}
