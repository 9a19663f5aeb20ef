import { closeSync, readdirSync } from 'node:fs'
import { tryRead } from '../processes/small-files.ts'

/** As the kernel prints it: octal. Node gives the flag to all that it opens itself. */
const CLOSED_ON_EXEC = 0o2000000

/**
 * Closes what whoever started us had left open, and we would hand on to every command: a log, a lock, a socket. Node cannot
 * mark a file to be closed later, so it is closed now. `first` and all above it are looked at.
 */
export function closeInherited(first: number): void {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd < first) continue
    const flags = /^flags:\s+([0-7]+)$/m.exec(tryRead(`/proc/self/fdinfo/${fd}`))?.[1]
    if (flags === undefined || (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0) continue
    try {
      closeSync(fd)
    } catch {
      // it was the look at the directory
    }
  }
}
