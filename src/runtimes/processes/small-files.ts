import { readFileSync, writeFileSync } from 'node:fs'

/** Returns '' for a file that cannot be read: files below /proc vanish together with their process. */
export function tryRead(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

export function tryWrite(path: string, text: string): boolean {
  try {
    writeFileSync(path, text)
    return true
  } catch {
    return false
  }
}
