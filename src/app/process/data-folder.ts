import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { FaultError } from '../../base/fault.ts'

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'this user may not make it',
  EPERM: 'this user may not make it',
  EROFS: 'that part of the disk is read only',
  ENOSPC: 'the disk is full',
  ENOENT: 'nothing can be made there',
  EEXIST: 'what is no directory is in its place',
}

/** The directory of all that a server or worker keeps; what is in the way is told with the flag that would put it right. */
export function makeDataFolder(path: string): void {
  try {
    make(path)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const what = `cannot use the data directory ${path}: ${WHY[code] ?? message}; choose another with --data`
    throw new FaultError({ kind: 'unavailable', what }, error)
  }
}

/** Step by step: below /proc Node's own way of making parents tries for ever. */
function make(path: string): void {
  if (isDirectory(path)) return
  const parent = dirname(path)
  if (parent !== path) make(parent)
  try {
    // What is in it is closed to others; a worker's folder is too, but its commands must get there.
    mkdirSync(path, { mode: 0o711 })
  } catch (error) {
    if (!isDirectory(path)) throw error // else another was faster
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
