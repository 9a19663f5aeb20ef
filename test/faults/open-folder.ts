import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A folder in which commands can leave something, whoever they run as: a worker that is root runs them as nobody. The
 * folder that holds it is one of the test's own, and lets others through.
 */
export function openFolder(path: string): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o777)
  chmodSync(dirname(path), 0o711)
}
