import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Handed } from './launcher.ts'

export interface HandedFiles {
  readonly fds: readonly number[]
  /** The process has them now. */
  close(): void
}

let texts = 0

/** Opens what a process is to find open. A text is in a file of the folder only until it is open: nobody else ever finds it. */
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
  // Also by another user, through /proc/self/fd: the folder is closed to them, and the name is gone by then.
  const written = openSync(path, 'wx', 0o444)
  try {
    writeSync(written, text)
    return openSync(path, 'r')
  } finally {
    closeSync(written)
    rmSync(path)
  }
}
