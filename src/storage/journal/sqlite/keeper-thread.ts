/** The thread that moves what is in the log into the database while others go on writing. */
import { parentPort, workerData } from 'node:worker_threads'
import { openForWriting } from './open-database.ts'
import type { Checkpointed, ThreadSettings } from './thread-messages.ts'

const { folder } = workerData as ThreadSettings
const db = openForWriting(folder)
const checkpoint = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', () => {
  try {
    const { log, checkpointed } = checkpoint.get() ?? {}
    parentPort?.postMessage({ frames: Number(log), done: Number(checkpointed) } satisfies Checkpointed)
  } catch {
    // A full or failing disk: nothing is lost, for the log still has it. The next time may do better.
    parentPort?.postMessage({ frames: 0, done: 0 } satisfies Checkpointed)
  }
})
