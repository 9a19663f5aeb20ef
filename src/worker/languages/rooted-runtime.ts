import { LANGUAGE_PROPERTY } from '../../model/language.ts'
import type { Runtime } from '../../runtimes/run/runtime.ts'

/** The folder with a language's own system, by its name; undefined for one that uses the machine's. */
export type LanguageRootfs = (language: string) => string | undefined

/** Commands that ask for a language which has a system of its own see that one. */
export const rooted = (inner: Runtime, rootfsOf: LanguageRootfs): Runtime => ({
  ...inner,
  run(run, signal) {
    const asked = run.command.platform.find(({ name }) => name === LANGUAGE_PROPERTY)?.value
    const rootfs = asked === undefined ? undefined : rootfsOf(asked.split('@')[0] ?? asked)
    return inner.run(rootfs === undefined ? run : { ...run, room: { ...run.room, rootfs } }, signal)
  },
})
