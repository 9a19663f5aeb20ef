import { mkdirSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { FaultError, invalid } from '../../base/fault.ts'
import { type BuiltRootfs, builtRootfs, recordRootfs } from '../../languages/built-rootfs.ts'
import { loadLanguages } from '../../languages/load-languages.ts'
import { buildRootfs } from '../../languages/rootfs/build-rootfs.ts'
import type { BuildStep } from '../../languages/rootfs/build-step.ts'
import type { Language } from '../../model/language.ts'
import type { LanguageReport } from '../../worker/languages/language-report.ts'
import type { Backend } from '../config/backends.ts'
import type { LanguageFolders } from '../process/language-folders.ts'
import { openLanguageMachine } from './language-machine.ts'
import { closedOnTheWay } from './user.ts'

export interface LanguageBuild {
  readonly language: Language
  /** Packages in addition to those that the language names. */
  readonly packages: readonly string[]
  /** An existing root file system, used in place. */
  readonly from: string | undefined
  readonly folders: LanguageFolders
  readonly backend: Backend
  readonly env: Readonly<Record<string, string | undefined>>
  /** A unique name of the build. */
  readonly mark: string
}

export interface BuiltLanguage {
  readonly path: string
  readonly packages: number
  /** Packages that could not be configured; the self-test passed anyway. */
  readonly unset: readonly string[]
  readonly report: LanguageReport
}

/** Builds a root file system with libraries for a language. It is used only if its self-test passes. */
export async function buildLanguage(build: LanguageBuild, step: BuildStep): Promise<BuiltLanguage> {
  const { language, folders, from } = build
  const made = from === undefined ? await fetched(build, step) : given(from)
  try {
    step.onProgress('running the self-test', undefined)
    const report = await tested(build, { path: made.path, mark: build.mark, packages: [] }, step.signal)
    if (report.outcome !== 'passed')
      throw new FaultError({
        kind: 'unavailable',
        what: [
          `${language.name} does not pass its self-test there: ${report.what}`,
          ...(made.unset.length === 0 ? [] : [`these packages could not be set up: ${made.unset.join(', ')}`]),
        ].join('\n'),
      })
    const before = builtRootfs(folders.rootfs).get(language.name)?.path
    recordRootfs(folders.rootfs, language.name, { path: made.path, made: build.mark, packages: [...made.packages] })
    if (from === undefined) removeOthers(folders.rootfs, language.name, [made.path, before])
    return { path: made.path, packages: made.packages.length, unset: made.unset, report }
  } catch (error) {
    if (from === undefined) rmSync(made.path, { recursive: true, force: true })
    throw error
  }
}

const fetched = ({ language, packages, folders, mark }: LanguageBuild, step: BuildStep) =>
  buildRootfs(
    {
      packages: [...(language.debian ?? []), ...(language.libraries?.debian ?? []), ...packages],
      folder: folders.rootfs,
      name: `${language.name}@${mark}`,
    },
    step,
  )

function given(from: string) {
  if (statSync(from, { throwIfNoEntry: false })?.isDirectory() !== true) throw invalid(`--from: ${from} is no folder`)
  const path = realpathSync(from)
  if (path === '/') throw invalid('--from: the whole machine is what rooms see without one')
  const closed = process.getuid?.() === 0 ? closedOnTheWay(path) : undefined
  if (closed !== undefined) throw invalid(`--from: rooms belong to another user, who cannot get past ${closed}`)
  return { path, packages: [], unset: [] }
}

async function tested(build: LanguageBuild, rootfs: BuiltRootfs, signal: AbortSignal): Promise<LanguageReport> {
  const { language, backend, env } = build
  const machine = await openLanguageMachine({
    ...{ backend, env, languages: [language], rootfs: new Map([[language.name, rootfs]]) },
  })
  try {
    await machine.test(() => {}, signal)
    const [report] = machine.reports()
    if (report === undefined) throw new FaultError({ kind: 'cancelled', what: 'the build was stopped' })
    return report
  } finally {
    await machine.close()
  }
}

/** A worker that has not restarted since the build still uses the previous one, so it is kept. */
function removeOthers(folder: string, language: string, kept: readonly (string | undefined)[]): void {
  for (const name of readdirSync(folder))
    if (name.startsWith(`${language}@`) && !kept.includes(realpathSync(join(folder, name))))
      rmSync(join(folder, name), { recursive: true, force: true })
}

/** Writes a language of the user that extends another one with packages. A file that cannot be read back is removed. */
export function writeVariant(own: string, { name, title, libraries }: Language, base: Language): void {
  mkdirSync(own, { recursive: true })
  const file = join(own, `${name.replaceAll('#', 'sharp')}.toml`)
  const text = stringify({ extends: base.name, name, title, libraries: { debian: [...(libraries?.debian ?? [])] } })
  writeFileSync(file, `${text}\n`)
  try {
    loadLanguages(own)
  } catch (error) {
    rmSync(file)
    throw error
  }
}
