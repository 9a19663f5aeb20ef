/**
 * The thread that moves what is in the log into the database while others go on writing. A checkpoint that a writer is
 * ahead of leaves the database to the kernel, unsynced, and the one that ends the log would wait for all of it at once
 * (seen: 41 ms with everyone waiting, and 2 with this): so it is brought to the disk here each time.
 */
import { fdatasyncSync, openSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { databaseFile, openForWriting } from './open-database.ts'
import type { Checkpointed, ThreadSettings } from './thread-messages.ts'

const { folder } = workerData as ThreadSettings
const db = openForWriting(folder)
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
// Closed with the thread and not before: to close it takes SQLite's locks on the file with it, and they are only missed
// by another process, which is kept out of the folder.
const file = openSync(databaseFile(folder), 'r+')

parentPort?.on('message', () => {
  try {
    const { log, checkpointed } = checkpoint.get() ?? {}
    fdatasyncSync(file)
    parentPort?.postMessage({ frames: Number(log), done: Number(checkpointed) } satisfies Checkpointed)
  } catch {
    // A full or failing disk: nothing is lost, for the log still has it. The next time may do better.
    parentPort?.postMessage({ frames: 0, done: 0 } satisfies Checkpointed)
  }
})
