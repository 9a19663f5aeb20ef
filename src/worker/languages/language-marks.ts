import type { BuiltRootfs } from '../../languages/built-rootfs.ts'
import type { Language } from '../../model/language.ts'
import type { OfferedLanguagesOptions } from './offered-languages.ts'
import { selfTestKey } from './self-test-results.ts'
import { toolchainMark } from './toolchain-mark.ts'

export interface Surroundings {
  readonly rootfs: ReadonlyMap<string, BuiltRootfs>
  /** Whether rooms can have their own root file system. */
  readonly takesRootfs: boolean
  /** Whether rooms see the machine's programs; otherwise only a test shows which programs they have. */
  readonly hasMachine: boolean
  /** Everything else that a result depends on: the version of Windlass, the kind of room. */
  readonly others: readonly string[]
}

/** Computes a key for the state of a language's toolchain on this machine. */
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
