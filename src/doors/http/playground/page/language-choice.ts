import { type LanguageJson, languages, Refusal } from './code-api.ts'
import { everyFew } from './frames.ts'

export interface LanguageChoice {
  /** Undefined while there is none. */
  language(): string | undefined
  /** Undefined for the newest. */
  version(): string | undefined
  /** By name or alias; false when no worker offers it. */
  choose(language: string, version?: string): boolean
}

export interface LanguageChoiceOptions {
  readonly language: HTMLSelectElement
  readonly version: HTMLSelectElement
  /** Called when the user chose another language. */
  changed(): void
  /** There were none, and now there are. */
  come(): void
  /** Why nothing can be chosen; undefined when something can. */
  notice(text: string | undefined): void
}

const NOBODY = 'No worker offers a language at the moment. As soon as one comes (windlass worker daemon), it is here.'
const AGAIN_MS = 3000

/** The languages that live workers offer; while there are none it looks again now and then. */
export async function languageChoice(options: LanguageChoiceOptions): Promise<LanguageChoice> {
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
      notice(error instanceof Refusal ? error.message : String(error))
      return false
    }
    select.replaceChildren(...offered.map(({ name, title }) => new Option(title, name)))
    select.disabled = offered.length === 0
    showVersions()
    notice(offered.length === 0 ? NOBODY : undefined)
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
