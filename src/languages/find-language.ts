import type { Language } from '../model/language.ts'

/** Finds a language by its name or an alias, ignoring case. */
export function findLanguage<L extends Pick<Language, 'name' | 'aliases'>>(
  languages: readonly L[],
  named: string,
): L | undefined {
  const lowered = named.trim().toLowerCase()
  return (
    languages.find(({ name }) => name === lowered) ??
    languages.find(({ aliases }) => aliases.some((a) => a === lowered))
  )
}
