/**
 * The thread that checkpoints the log into the database while the writer continues. A passive checkpoint that does not
 * reach the end of the log leaves the database file unsynced. The checkpoint that restarts the log would then sync all
 * of it at once, while all writes wait (measured: 41 ms, and 2 ms with this). So this thread syncs the file after each
 * checkpoint.
 */
import { fdatasyncSync, openSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { databaseFile, openForWriting } from './open-database.ts'
import type { Checkpointed, ThreadSettings } from './thread-messages.ts'

const { folder } = workerData as ThreadSettings
const db = openForWriting(folder)
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
// The file is closed only with the thread: closing it would release SQLite's locks on the file in this process. After
// that only another process could miss them, and the folder lock excludes other processes.
const file = openSync(databaseFile(folder), 'r+')

parentPort?.on('message', () => {
  try {
    const { log, checkpointed } = checkpoint.get() ?? {}
    fdatasyncSync(file)
    parentPort?.postMessage({ frames: Number(log), done: Number(checkpointed) } satisfies Checkpointed)
  } catch {
    // The disk is full or failing. Nothing is lost, because the log still has the data. The next checkpoint retries.
    parentPort?.postMessage({ frames: 0, done: 0 } satisfies Checkpointed)
  }
})
