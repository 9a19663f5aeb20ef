import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Makes an empty file that commands in different rooms can write to: each room may have its own user. */
export function sharedFile(folder: string, name: string): string {
  const path = join(folder, name)
  writeFileSync(path, '')
  chmodSync(path, 0o666) // the umask may have removed bits from the mode
  return path
}
