import { loadConfig } from '../app/config-load.ts'
import { type LanguageFolders, languageFoldersHere } from '../app/language-folders.ts'
import type { Terminal } from '../app/terminal.ts'
import { invalid } from '../base/fault.ts'
import { findLanguage } from '../languages/find-language.ts'
import { loadLanguages } from '../languages/load-languages.ts'
import type { Language } from '../model/language.ts'
import { Verdict } from './verdict.ts'

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

/** What a worker with these settings would know of languages. */
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
  if (found === undefined)
    throw invalid(`there is no language ${JSON.stringify(name)}; "windlass languages" shows those that there are`)
  return found
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** Ctrl+C stops the work, and what it has made so far is gone; a second one leaves at once. */
export async function untilStopped<T>(terminal: Terminal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const leaving = new AbortController()
  let stoppedBy: number | undefined
  const heed = (signal: keyof typeof EXIT_CODES): void => {
    if (stoppedBy !== undefined) terminal.signals.exit(EXIT_CODES[signal])
    stoppedBy = EXIT_CODES[signal]
    leaving.abort()
  }
  const names = Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[]
  for (const name of names) terminal.signals.on(name, heed)
  try {
    const done = await work(leaving.signal)
    if (stoppedBy !== undefined) throw new Verdict(stoppedBy)
    return done
  } catch (error) {
    throw stoppedBy === undefined ? error : new Verdict(stoppedBy)
  } finally {
    for (const name of names) terminal.signals.off(name, heed)
  }
}
