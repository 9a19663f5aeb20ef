import { LANGUAGE_PROPERTY, languageWithVersion, TESTING_PROPERTY } from '../../model/language.ts'

/** The state of one language on this machine. */
export interface LanguageReport {
  readonly name: string
  /** `absent`: not installed. `failed`: installed, but its self-test failed. */
  readonly outcome: 'passed' | 'absent' | 'failed'
  readonly version: string | undefined
  /** The reason, when it did not pass. */
  readonly what: string | undefined
  /** The duration of the self-test; undefined when a cached result was used. */
  readonly tookMs: number | undefined
}

/**
 * The languages that passed as one property, and those under test as another: comma-separated, because the messages of
 * workers have one value for each name. A property without a value is left out.
 */
export function languageProperties(
  reports: readonly LanguageReport[],
  testing: readonly string[] = [],
): { readonly name: string; readonly value: string }[] {
  const values = reports
    .filter(({ outcome }) => outcome === 'passed')
    .flatMap(({ name, version }) => [name, ...(version === undefined ? [] : [languageWithVersion(name, version)])])
  return [
    { name: LANGUAGE_PROPERTY, value: values.join(',') },
    { name: TESTING_PROPERTY, value: testing.join(',') },
  ].filter(({ value }) => value !== '')
}
