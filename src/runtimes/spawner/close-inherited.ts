import { closeSync, readdirSync } from 'node:fs'
import { tryRead } from '../processes/small-files.ts'

/** O_CLOEXEC as /proc prints it: octal. Node sets it on all files that it opens itself. */
const CLOSED_ON_EXEC = 0o2000000

/**
 * Closes descriptors that the parent process left open and that every command would inherit: a log, a lock, a socket.
 * Node cannot set O_CLOEXEC on them, so they are closed. Checks `first` and all above it.
 */
export function closeInherited(first: number): void {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd < first) continue
    const flags = /^flags:\s+([0-7]+)$/m.exec(tryRead(`/proc/self/fdinfo/${fd}`))?.[1]
    if (flags === undefined || (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0) continue
    try {
      closeSync(fd)
    } catch {
      // the descriptor of the directory listing itself, already closed
    }
  }
}
