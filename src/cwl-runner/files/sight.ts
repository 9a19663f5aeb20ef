import { realpathSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isWithin } from './file-address.ts'

/** The files of this machine that a run may access. */
export interface Sight {
  /** This path and everything below is an input: links may lead there. */
  admit(path: string): void
  isAdmitted(path: string): boolean
  /** Undefined when nothing exists there, or access is denied. */
  look(path: string): VisibleFile | undefined
}

/** The real path and its stat. */
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
        // A missing file is reported where it is needed.
      }
    },
    look(path) {
      try {
        const real = realpathSync.native(path)
        const stats = statSync(real)
        const isSeen = !isWithin(path, rooms) || isWithin(real, rooms) || isAdmitted(real)
        // A device or a pipe is not data: reading it may never end.
        return isSeen && (stats.isFile() || stats.isDirectory()) ? { real, stats } : undefined
      } catch {
        return undefined
      }
    },
  }
}
