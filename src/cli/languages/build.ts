import { resolve } from 'node:path'
import { systemClock } from '../../app/process/clock.ts'
import { newId } from '../../app/process/new-id.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { buildLanguage, writeVariant } from '../../app/worker/language-build.ts'
import { invalid } from '../../base/fault.ts'
import { findLanguage } from '../../languages/find-language.ts'
import type { Language } from '../../model/language.ts'
import { statusLine } from '../output/progress.ts'
import { untilStopped } from '../session/until-stopped.ts'
import { languagesSession, namedLanguage, type PlaceFlags } from './session.ts'

export interface LanguagesBuildFlags extends PlaceFlags {
  readonly packages?: string
  readonly as?: string
  readonly from?: string
}

const BAR = 20
const NAME = /^[a-z0-9][a-z0-9+#-]{0,49}$/

/** Builds a root file system for a language, and shows progress. */
export async function runLanguagesBuild(name: string, flags: LanguagesBuildFlags, terminal: Terminal): Promise<void> {
  const { languages, folders, backend } = languagesSession(flags, terminal)
  const base = namedLanguage(languages, name)
  const packages = flags.packages?.split(',').map((each) => each.trim()) ?? []
  if (flags.from !== undefined && packages.length > 0) throw invalid('--packages and --from: one or the other')
  if (flags.as !== undefined && flags.from === undefined && packages.length === 0)
    throw invalid('--as: name its packages with --packages, or its folder with --from')
  const variant = flags.as === undefined ? undefined : variantOf(base, flags.as, { packages, languages })
  const language = variant ?? base
  const line = statusLine(terminal, systemClock)
  const build = {
    ...{ language, folders, backend, env: terminal.env, from: flags.from && resolve(flags.from) },
    mark: newId(systemClock.now),
  }
  const onProgress = (what: string, part: number | undefined): void => line.show(() => `${barOf(part)}${what}`)
  const built = await untilStopped(terminal, (signal) =>
    buildLanguage({ ...build, packages: variant === undefined ? packages : [] }, { onProgress, signal }),
  ).finally(line.clear)
  if (variant !== undefined) writeVariant(folders.own, variant, base)
  const { version, tookMs } = built.report
  terminal.out(`${language.name} ${version} passes its self-test in ${built.path} (${tookMs} ms)\n`)
  if (built.packages > 0)
    terminal.out(`${built.packages} packages; workers of this machine use them from their next start on\n`)
}

interface Others {
  readonly packages: readonly string[]
  readonly languages: readonly Language[]
}

function variantOf(base: Language, name: string, { packages, languages }: Others): Language {
  if (!NAME.test(name))
    throw invalid(`--as: ${JSON.stringify(name)} is no name: lower-case letters, digits, "+", "#", "-"`)
  const taken = findLanguage(languages, name)
  if (taken !== undefined && (taken.name !== name || taken.libraries === undefined))
    throw invalid(`--as: there is a language ${name} already`)
  if (base.libraries !== undefined) throw invalid(`--as: ${base.name} is made of another language; start from that one`)
  const title = `${base.title} ${packages.length === 0 ? `(${name})` : `with ${packages.join(', ')}`}`.slice(0, 100)
  return { ...base, name, title, aliases: [], libraries: { debian: packages } }
}

function barOf(part: number | undefined): string {
  if (part === undefined) return ''
  const filled = Math.floor(Math.min(1, part) * BAR)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${Math.floor(part * 100)}%  `
}
