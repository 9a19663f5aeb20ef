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

/** Opens the directory for all data of a server or worker; errors name the flag that changes it. */
export function makeDataFolder(path: string): void {
  try {
    make(path)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const what = `cannot use the data directory ${path}: ${WHY[code] ?? message}; choose another with --data`
    throw new FaultError({ kind: 'unavailable', what }, error)
  }
}

/** One level at a time: below /proc Node's recursive mkdir never returns. */
function make(path: string): void {
  if (isDirectory(path)) return
  const parent = dirname(path)
  if (parent !== path) make(parent)
  try {
    // Other users cannot read the contents. The folder of a worker has the same mode, so that its commands can reach
    // their rooms.
    mkdirSync(path, { mode: 0o711 })
  } catch (error) {
    if (!isDirectory(path)) throw error // otherwise another process created it first
  }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
