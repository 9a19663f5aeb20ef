import type { BuiltRootfs } from '../../languages/built-rootfs.ts'
import type { Language } from '../../model/language.ts'
import type { OfferedLanguagesOptions } from './offered-languages.ts'
import { selfTestKey } from './self-test-results.ts'
import { toolchainMark } from './toolchain-mark.ts'

export interface Surroundings {
  readonly rootfs: ReadonlyMap<string, BuiltRootfs>
  /** Whether rooms here can have a system of their own. */
  readonly takesRootfs: boolean
  /** Whether rooms have the machine's programs; else nothing is known of theirs before they are tried. */
  readonly hasMachine: boolean
  /** What else a result depends on: our version, the kind of room. */
  readonly others: readonly string[]
}

/** How a language on this machine is told from every other state of it. */
export const languageMarks =
  ({ rootfs, takesRootfs, hasMachine, others }: Surroundings): OfferedLanguagesOptions['markOf'] =>
  (language: Language) => {
    const built = rootfs.get(language.name)
    if (built !== undefined && takesRootfs) return { key: selfTestKey(language, built.mark, ...others) }
    if (language.libraries !== undefined)
      return takesRootfs
        ? { absent: `its libraries are not there; "windlass languages build ${language.name}" fetches them` }
        : { absent: 'rooms of this backend cannot have a system of their own' }
    if (!hasMachine) return { key: selfTestKey(language, 'image', ...others) }
    const found = toolchainMark(language.probe)
    if ('absent' in found) return { absent: `${found.absent} was not found` }
    return { key: selfTestKey(language, found.mark, ...others) }
  }
