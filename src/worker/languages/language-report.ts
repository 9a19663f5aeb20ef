import { LANGUAGE_PROPERTY, languageWithVersion } from '../../model/language.ts'

/** How it stands with one language on this machine. */
export interface LanguageReport {
  readonly name: string
  /** `absent`: it is not here. `failed`: it is, and does not do what it should. */
  readonly outcome: 'passed' | 'absent' | 'failed'
  readonly version: string | undefined
  /** In words, why it did not pass. */
  readonly what: string | undefined
  /** Of the self-test; undefined when there was none, or only long ago. */
  readonly tookMs: number | undefined
}

/**
 * What a worker offers by its reports, as one property: names and versions with commas between, for the messages of workers
 * have one value for each name. None when nothing passed.
 */
export function languageProperty(
  reports: readonly LanguageReport[],
): { readonly name: string; readonly value: string }[] {
  const values = reports
    .filter(({ outcome }) => outcome === 'passed')
    .flatMap(({ name, version }) => [name, ...(version === undefined ? [] : [languageWithVersion(name, version)])])
  return values.length === 0 ? [] : [{ name: LANGUAGE_PROPERTY, value: values.join(',') }]
}
