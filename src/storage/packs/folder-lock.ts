import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FaultError } from '../../base/fault.ts'

/**
 * Holds a data folder for one process. Node has no call for file locks, but SQLite takes one, and the kernel gives it
 * back when the process dies, however it dies: there are no stale locks to guess about, and process ids that are used
 * again, or that mean something else in another container, do no harm. LOCK is the file that is locked (opening it by
 * any other way in this process would let go of the lock); LOCK.pid only tells people who has it.
 */
export function holdFolder(folder: string, pid: number): () => void {
  const names = join(folder, 'LOCK.pid')
  const lock = new DatabaseSync(join(folder, 'LOCK'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    const what = `the data folder ${folder} is in use by process ${holderIn(names)}`
    throw new FaultError({ kind: 'unavailable', what }, error)
  }
  try {
    writeFileSync(names, `${pid}\n`)
  } catch (error) {
    // For information only: a full disk must not prevent the start of the server.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
  return () => lock.close()
}

function holderIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return '(not known)'
  }
}
