import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FaultError } from '../../base/fault.ts'

/**
 * Locks a data folder for one process. Node has no API for file locks, but SQLite takes one, and the kernel releases it
 * when the process ends for any reason. So there are no stale locks, and reused process IDs or those of other
 * containers do no harm. LOCK is the locked file: opening and closing it in another way in this process would release
 * the lock. LOCK.pid only informs operators which process has the lock.
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
