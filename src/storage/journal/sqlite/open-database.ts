import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export const databaseFile = (folder: string): string => join(folder, 'journal.db')
export const logFile = (folder: string): string => join(folder, 'journal.db-wal')

/** Twice the size at which a checkpoint starts, so SQLite truncates only a log that a long read kept growing. */
const MOST_LOG_BYTES = 256 * 1024 * 1024

/** The longest wait for another connection of this server that restarts the log: longer than a disk takes to sync. */
const BUSY_MS = 5000

/**
 * Opens the connection that writes. `synchronous = NORMAL`: a commit passes the bytes to the kernel and does not wait
 * for the disk. For durability `power` the writer syncs the log separately, so commits continue meanwhile and a
 * `process` write never waits for a disk (with FULL every commit waits: measured 4 to 16 ms per transaction).
 * Checkpoints are made elsewhere, see log-keeper.ts. The log file is not truncated when it restarts: truncation took 84
 * ms on a busy disk. Pages of 8 KiB take a tenth less CPU per task than 4 KiB; pages of 16 KiB double the log.
 */
export function openForWriting(folder: string): DatabaseSync {
  const db = new DatabaseSync(databaseFile(folder), { timeout: BUSY_MS })
  try {
    db.exec(`PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
      PRAGMA cache_size = -32768; PRAGMA journal_size_limit = ${MOST_LOG_BYTES}; PRAGMA temp_store = MEMORY`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export const openForReading = (folder: string): DatabaseSync =>
  new DatabaseSync(databaseFile(folder), { readOnly: true, timeout: BUSY_MS })
