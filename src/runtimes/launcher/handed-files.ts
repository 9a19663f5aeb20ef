import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Handed } from './launcher.ts'

export interface HandedFiles {
  readonly fds: readonly number[]
  /** Closes the launcher's descriptors, when the process has its own. */
  close(): void
}

let texts = 0

/**
 * Opens the files that a process inherits. A text is written to a file in the folder, which is deleted as soon as it is
 * open.
 */
export function handedFiles(handed: readonly Handed[], folder: string): HandedFiles {
  const fds: number[] = []
  const close = (): void => {
    for (const fd of fds.splice(0)) closeSync(fd)
  }
  try {
    for (const each of handed) fds.push('path' in each ? openSync(each.path, 'r') : openText(each.text, folder))
    return { fds: [...fds], close }
  } catch (error) {
    close()
    throw error
  }
}

function openText(text: string, folder: string): number {
  const path = join(folder, `text-${++texts}`)
  // World-readable, so that another user can open it through /proc/self/fd. Other users cannot enter the folder, and
  // the name is deleted.
  const written = openSync(path, 'wx', 0o444)
  try {
    writeSync(written, text)
    return openSync(path, 'r')
  } finally {
    closeSync(written)
    rmSync(path)
  }
}
