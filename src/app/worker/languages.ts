import { existsSync, readFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import { invalid } from '../../base/fault.ts'
import type { Log } from '../../base/log.ts'
import { builtRootfs } from '../../languages/built-rootfs.ts'
import { findLanguage } from '../../languages/find-language.ts'
import { loadLanguages } from '../../languages/load-languages.ts'
import { type IsolationLevel, isolatesAs } from '../../model/isolation.ts'
import type { Language } from '../../model/language.ts'
import type { RuntimeProbe } from '../../runtimes/run/runtime.ts'
import type { NamedValue } from '../../wire/workers/registration.ts'
import { attemptPipeline } from '../../worker/attempt/pipeline.ts'
import { languageMarks } from '../../worker/languages/language-marks.ts'
import { type LanguageReport, languageProperties } from '../../worker/languages/language-report.ts'
import {
  type OfferedLanguages,
  type OfferedLanguagesOptions,
  offeredLanguages,
} from '../../worker/languages/offered-languages.ts'
import { rooted } from '../../worker/languages/rooted-runtime.ts'
import { selfTestResultsIn } from '../../worker/languages/self-test-results.ts'
import { trialInRooms } from '../../worker/languages/trial-in-rooms.ts'
import type { Config } from '../config/config.ts'
import { languageFoldersHere } from '../process/language-folders.ts'
import { version } from '../process/version.ts'
import type { InstanceTools } from './tools.ts'

export interface WorkerLanguagesOptions {
  readonly languages: readonly Language[]
  readonly server: Pick<Config['server'], 'data_dir'>
  /** The minimum isolation for snippets; default: isolation from the machine. */
  readonly least?: IsolationLevel
  readonly probe: Extract<RuntimeProbe, { works: true }>
  readonly here: InstanceTools
  readonly roomName: () => string
  readonly clock: Clock
  readonly log: Log
}

/** The languages of one worker: those with a recorded pass are offered at once, the others are tested meanwhile. */
export interface WorkerLanguages {
  /** The languages that it may offer, if the isolation is sufficient. */
  readonly all: readonly Language[]
  /** The languages that the worker offers now, and those still under test. */
  properties(): readonly NamedValue[]
  spoken(): SpokenLanguages
  /** The same tools, with a runtime that also finds a language's own root file system. */
  within(here: InstanceTools): InstanceTools
  /** Tests the other languages, and calls `more` when more can be offered. */
  begin(more: () => void): void
  close(): Promise<void>
}

/** The names of languages that are offered, that are under test, and that are installed but fail, with the cause. */
export interface SpokenLanguages {
  readonly languages: readonly string[]
  readonly testing: readonly string[]
  readonly failed: Readonly<Record<string, string>>
}

const NONE: WorkerLanguages = {
  all: [],
  properties: () => [],
  spoken: () => ({ languages: [], testing: [], failed: {} }),
  within: (here) => here,
  begin() {},
  async close() {},
}

export function openWorkerLanguages(options: WorkerLanguagesOptions): WorkerLanguages {
  const { languages, least = 'namespaces', probe, clock, log } = options
  const folders = languageFoldersHere(options.server.data_dir)
  if (languages.length === 0) return NONE
  if (!isolatesAs(probe.isolation, least)) {
    log.info(
      { isolation: probe.isolation, least },
      'no languages offered: this runtime does not isolate untrusted code',
    )
    return NONE
  }
  const rootfs = probe.keeps.rootfs ? builtRootfs(folders.rootfs) : new Map<string, never>()
  const rootfsOf = (name: string): string | undefined => rootfs.get(name)?.path
  const hasMachine = probe.isolation !== 'container'
  const surroundings = { rootfs, takesRootfs: probe.keeps.rootfs, hasMachine }
  const { runtime: rooms } = options.here.tools
  const markOf = languageMarks({ ...surroundings, others: [version(), rooms.name, probe.isolation] })
  const toolchainOf = hasMachine
    ? toolchains(languages, languageMarks({ ...surroundings, others: [] }))
    : () => undefined
  const within = (here: InstanceTools): InstanceTools => {
    const runtime = rootfs.size === 0 ? here.tools.runtime : rooted(here.tools.runtime, rootfsOf)
    return { ...here, tools: { ...here.tools, runtime, toolchainOf } }
  }
  const { tools } = within(options.here)
  const offered = offeredLanguages({
    languages,
    trial: trialInRooms({ executor: attemptPipeline(tools), clock, roomName: options.roomName, isolation: least }),
    results: selfTestResultsIn(folders.selfTests),
    markOf,
    clock,
  })
  const ending = new AbortController()
  let testing: Promise<void> | undefined
  return {
    all: languages,
    properties: () => languageProperties(offered.reports(), offered.testing()),
    spoken: () => spokenOf(offered),
    within,
    begin(more) {
      if (offered.testing().length > 0)
        log.info({ languages: offered.testing() }, 'self-tests of languages are running')
      testing = offered.test(more, ending.signal).then(
        () => tell(offered.reports(), log),
        (error: unknown) => log.error({ err: error }, 'self-test of languages failed to run'),
      )
    },
    async close() {
      ending.abort()
      await testing
    },
  }
}

/**
 * Identifies a toolchain by its programs and root file system: output of one toolchain may not run with another of the
 * same name.
 */
function toolchains(
  languages: readonly Language[],
  markOf: OfferedLanguagesOptions['markOf'],
): (name: string) => string | undefined {
  const system = [process.arch, existsSync(OS_RELEASE) ? readFileSync(OS_RELEASE, 'utf8') : '']
  return (name) => {
    const language = languages.find((each) => each.name === name)
    const mark = language && markOf(language)
    return mark !== undefined && 'key' in mark ? JSON.stringify([...system, mark.key]) : undefined
  }
}

function spokenOf(offered: Pick<OfferedLanguages, 'reports' | 'testing'>): SpokenLanguages {
  const reports = offered.reports()
  const failed = reports.filter(({ outcome }) => outcome === 'failed')
  return {
    languages: reports.filter(({ outcome }) => outcome === 'passed').map(({ name }) => name),
    testing: offered.testing(),
    failed: Object.fromEntries(failed.map(({ name, what = '' }) => [name, what])),
  }
}

const OS_RELEASE = '/etc/os-release'

function tell(reports: readonly LanguageReport[], log: Log): void {
  const passed = reports.filter(({ outcome }) => outcome === 'passed').map(({ name, version: v }) => `${name} ${v}`)
  log.info({ languages: passed }, 'languages offered')
  for (const { name, outcome, what } of reports)
    if (outcome === 'failed') log.warn({ language: name, what }, 'language is installed but its self-test failed')
}

/** The built-in languages and the user's own, or the named ones among them. Throws `invalid`. */
export function languagesToOffer(dataDir: string, names?: readonly string[]): readonly Language[] {
  const all = loadLanguages(languageFoldersHere(dataDir).own)
  return (
    names?.map((name) => {
      const found = findLanguage(all, name)
      if (found === undefined) throw invalid(`worker.languages: there is no language ${JSON.stringify(name)}`)
      return found
    }) ?? all
  )
}
