import type { Language } from '../model/language.ts'

/** By its name or one of its other names, in whichever case somebody writes it. */
export function findLanguage<L extends Pick<Language, 'name' | 'aliases'>>(
  languages: readonly L[],
  named: string,
): L | undefined {
  const wanted = named.trim().toLowerCase()
  return (
    languages.find(({ name }) => name === wanted) ?? languages.find(({ aliases }) => aliases.some((a) => a === wanted))
  )
}
