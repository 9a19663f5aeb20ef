import { languageIn } from '../../model/language.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'

/** Returns the folder of a language's own root file system; undefined for a language that uses the machine's. */
export type LanguageRootfs = (language: string) => string | undefined

/** Runs the commands of a language in its own root file system, if it has one. */
export const rooted = (inner: Runtime, rootfsOf: LanguageRootfs): Runtime => ({
  ...inner,
  run(run, signal) {
    const language = languageIn(run.command)
    const rootfs = language === undefined ? undefined : rootfsOf(language)
    return inner.run(rootfs === undefined ? run : { ...run, room: { ...run.room, rootfs } }, signal)
  },
})
