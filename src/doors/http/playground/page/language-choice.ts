import { ApiError, type LanguageJson, languages } from './code-api.ts'
import { everyFew } from './frames.ts'

export interface LanguageMenu {
  /** Undefined while no language is selected. */
  language(): string | undefined
  /** Undefined for the newest version. */
  version(): string | undefined
  /** Selects by name or alias; returns false when no worker offers the language. */
  choose(language: string, version?: string): boolean
}

export interface LanguageChoiceOptions {
  readonly language: HTMLSelectElement
  readonly version: HTMLSelectElement
  /** Called when the user chose another language. */
  changed(): void
  /** Called when the first languages become available. */
  come(): void
  /** Called with the reason why nothing can be selected; undefined when something can. */
  notice(text: string | undefined): void
}

const NO_LANGUAGE =
  'No worker offers a language at the moment. Start one with: windlass worker daemon. Its languages then appear here.'
const AGAIN_MS = 3000

/** The languages that live workers offer. While there are none, the page polls. */
export async function languageChoice(options: LanguageChoiceOptions): Promise<LanguageMenu> {
  const { language: select, version, changed, come, notice } = options
  let offered: readonly LanguageJson[] = []

  const showVersions = (): void => {
    const versions = offered.find(({ name }) => name === select.value)?.versions ?? []
    version.replaceChildren(new Option('newest', ''), ...versions.map((word) => new Option(word)))
    version.disabled = versions.length === 0
  }
  const look = async (): Promise<boolean> => {
    try {
      offered = await languages()
    } catch (error) {
      notice(error instanceof ApiError ? error.message : String(error))
      return false
    }
    select.replaceChildren(...offered.map(({ name, title }) => new Option(title, name)))
    select.disabled = offered.length === 0
    showVersions()
    notice(offered.length === 0 ? NO_LANGUAGE : undefined)
    return offered.length > 0
  }
  select.addEventListener('change', () => {
    showVersions()
    changed()
  })
  if (!(await look())) keepLooking(look, come)
  return {
    language: () => (offered.length === 0 ? undefined : select.value),
    version: () => version.value || undefined,
    choose(wanted, wantedVersion = '') {
      const found = offered.find(({ name, aliases }) => name === wanted || aliases.includes(wanted))
      if (found === undefined) return false
      select.value = found.name
      showVersions()
      version.value = found.versions.includes(wantedVersion) ? wantedVersion : ''
      return true
    },
  }
}

function keepLooking(look: () => Promise<boolean>, found: () => void): void {
  let isLooking = false
  const stop = everyFew(AGAIN_MS, async () => {
    if (isLooking) return
    isLooking = true
    const isThere = await look()
    isLooking = false
    if (!isThere) return
    stop()
    found()
  })
}
