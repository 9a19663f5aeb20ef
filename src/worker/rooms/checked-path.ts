import { posix } from 'node:path'
import { invalid } from '../../base/fault.ts'

/**
 * Normalizes a path of a client, relative to `start`, to one relative to the root of the inputs. `..` may not lead out
 * of the inputs. Throws `invalid`.
 */
export function checkedPath(path: string, what: string, start = ''): string {
  const named = JSON.stringify(path.slice(0, 200))
  if (path.startsWith('/')) throw invalid(`the ${what} ${named} is absolute`)
  if (path.includes('\0') || !path.isWellFormed()) throw invalid(`the ${what} ${named} is not a path`)
  const whole = posix.normalize(posix.join(start, path)).replace(/\/$/, '')
  if (whole === '..' || whole.startsWith('../')) throw invalid(`the ${what} ${named} leads out of the inputs`)
  return whole === '.' ? '' : whole
}

/** All directories that a path lies in, outermost first, without the root. */
export function parentsOf(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('/'))
}
