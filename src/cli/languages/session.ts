import { loadConfig } from '../../app/config/load.ts'
import { type LanguageFolders, languageFoldersHere } from '../../app/process/language-folders.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { invalid } from '../../base/fault.ts'
import { nearest } from '../../base/nearest.ts'
import { findLanguage } from '../../languages/find-language.ts'
import { loadLanguages } from '../../languages/load-languages.ts'
import type { Language } from '../../model/language.ts'

export interface PlaceFlags {
  readonly config?: string
  readonly data?: string
  readonly backend?: string
}

export interface LanguagesSession {
  readonly languages: readonly Language[]
  readonly folders: LanguageFolders
  readonly backend: ReturnType<typeof loadConfig>['config']['worker']['backend']
}

/** The languages that a worker with these settings would have. */
export function languagesSession({ config: file, data, backend }: PlaceFlags, terminal: Terminal): LanguagesSession {
  const flags = [
    { flag: '--data', key: 'server.data_dir', value: data },
    { flag: '--backend', key: 'worker.backend', value: backend },
  ].filter(({ value }) => value !== undefined)
  const { config } = loadConfig({ file, env: terminal.env, home: terminal.home, flags })
  const folders = languageFoldersHere(config.server.data_dir)
  return { languages: loadLanguages(folders.own), folders, backend: config.worker.backend }
}

export function namedLanguage(languages: readonly Language[], name: string): Language {
  const found = findLanguage(languages, name)
  if (found !== undefined) return found
  const near = nearest(
    name,
    languages.flatMap(({ name, aliases }) => [name, ...aliases]),
  )
  const hint = near === undefined ? '"windlass languages" shows those that there are' : `did you mean ${near}?`
  throw invalid(`there is no language ${JSON.stringify(name)}; ${hint}`)
}
