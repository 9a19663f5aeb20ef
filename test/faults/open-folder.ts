import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A folder in which commands of any user can write: a worker that is root runs them as nobody. Its parent is the test's
 * own folder, which other users may traverse.
 */
export function openFolder(path: string): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o777)
  chmodSync(dirname(path), 0o711)
}
