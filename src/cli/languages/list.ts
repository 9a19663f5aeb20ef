import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { type LanguageMachine, openLanguageMachine } from '../../app/worker/language-machine.ts'
import { builtRootfs } from '../../languages/built-rootfs.ts'
import type { Language } from '../../model/language.ts'
import { statusLine } from '../output/progress.ts'
import { quietText, tableText } from '../output/table.ts'
import { jsonLine } from '../session/grid-session.ts'
import { untilStopped } from '../session/until-stopped.ts'
import { ExitRequest } from '../session/verdict.ts'
import { languagesSession, namedLanguage, type PlaceFlags } from './session.ts'

export interface LanguagesFlags extends PlaceFlags {
  readonly json?: true
}

type Report = ReturnType<LanguageMachine['reports']>[number]

/** All languages; a recorded pass counts, as for a worker. */
export async function listLanguages(flags: LanguagesFlags, terminal: Terminal): Promise<void> {
  await show({ names: [], anew: false, flags }, terminal)
}

/** Fails when a named language does not pass, or an installed one fails. */
export async function testLanguages(
  names: readonly string[],
  flags: LanguagesFlags,
  terminal: Terminal,
): Promise<void> {
  const reports = await show({ names, anew: true, flags }, terminal)
  const isFine = ({ outcome }: Report): boolean => outcome === 'passed' || (names.length === 0 && outcome === 'absent')
  if (!reports.every(isFine)) throw new ExitRequest(1)
}

interface ShowOrder {
  readonly names: readonly string[]
  readonly anew: boolean
  readonly flags: LanguagesFlags
}

async function show({ names, anew, flags }: ShowOrder, terminal: Terminal): Promise<readonly Report[]> {
  const { languages: all, folders, backend } = languagesSession(flags, terminal)
  const languages = names.length === 0 ? all : [...new Set(names.map((name) => namedLanguage(all, name)))]
  const line = statusLine(terminal, systemClock)
  let tested = 0
  const machine = await openLanguageMachine({
    ...{ backend, languages, anew, env: terminal.env, results: folders.selfTests, rootfs: builtRootfs(folders.rootfs) },
    onTested: ({ name }) => line.show(() => `tested ${++tested} of ${languages.length} languages: ${name}`),
  })
  try {
    line.show(() => `testing languages in rooms of the ${machine.runtime} runtime`)
    await untilStopped(terminal, async (signal) => {
      await machine.test(() => {}, signal)
      signal.throwIfAborted()
    })
    line.clear()
    const reports = machine.reports()
    terminal.out(flags.json ? jsonLine(inJson(languages, machine)) : inWords(languages, reports))
    return reports
  } finally {
    await machine.close()
  }
}

const inJson = (languages: readonly Language[], { runtime, reports }: LanguageMachine): object => ({
  runtime,
  languages: reports().map((report) => {
    const language = languages.find(({ name }) => name === report.name)
    const { title, aliases, debian = [], libraries } = language ?? {}
    return { ...report, title, aliases, debian: [...debian, ...(libraries?.debian ?? [])] }
  }),
})

function inWords(languages: readonly Language[], reports: readonly Report[]): string {
  const rows = reports.map(({ name, outcome, version, tookMs }) => [
    name,
    version ?? '',
    outcome === 'absent' ? 'no' : 'yes',
    outcome === 'absent' ? '' : outcome,
    outcome === 'passed' && tookMs !== undefined ? `${tookMs} ms` : '',
    howToGet(languages.find((language) => language.name === name)),
  ])
  const failures = reports
    .filter(({ outcome }) => outcome === 'failed')
    .flatMap(({ name, what = '' }) =>
      what.split('\n').map((line, i) => `${i === 0 ? `${name}: ` : '  '}${quietText(line)}\n`),
    )
  return [
    tableText(['LANGUAGE', 'VERSION', 'FOUND', 'SELF-TEST', 'TOOK', 'COMES WITH'], rows),
    ...(failures.length === 0 ? [] : ['\n', ...failures]),
  ].join('')
}

const howToGet = (language: Language | undefined): string => {
  if (language?.libraries !== undefined) return `windlass languages build ${language.name}`
  return language?.debian?.length ? `apt install ${language.debian.join(' ')}` : ''
}
