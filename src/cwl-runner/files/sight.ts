import { realpathSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isWithin } from './file-address.ts'

/** Which files of this machine a run may see. */
export interface Sight {
  /** This, and what is below it, is an input: links may lead there. */
  admit(path: string): void
  isAdmitted(path: string): boolean
  /** Undefined when nothing is there, or nothing that may be seen. */
  look(path: string): VisibleFile | undefined
}

/** Where a path really leads, and what is there. */
export interface VisibleFile {
  readonly real: string
  readonly stats: Stats
}

export function sightOf(rooms: string): Sight {
  const admitted = new Set<string>()
  const isAdmitted = (path: string): boolean => {
    for (let at = path; ; at = dirname(at)) {
      if (admitted.has(at)) return true
      if (at === dirname(at)) return false
    }
  }
  return {
    isAdmitted,
    admit(path) {
      try {
        admitted.add(realpathSync.native(path))
      } catch {
        // What is not there is missed by whoever needs it.
      }
    },
    look(path) {
      try {
        const real = realpathSync.native(path)
        const stats = statSync(real)
        const isSeen = !isWithin(path, rooms) || isWithin(real, rooms) || isAdmitted(real)
        // A device or a pipe is no data: reading it may never end.
        return isSeen && (stats.isFile() || stats.isDirectory()) ? { real, stats } : undefined
      } catch {
        return undefined
      }
    },
  }
}
