/** The thread that runs queries about history, over a read-only connection. */
import { parentPort, workerData } from 'node:worker_threads'
import { history } from './history.ts'
import { openForReading } from './open-database.ts'
import { faultOf } from './sqlite-fault.ts'
import type { FromReader, ThreadSettings, ToReader } from './thread-messages.ts'

const { folder } = workerData as ThreadSettings
const db = openForReading(folder)
const tasks = history(db)

function answer(message: ToReader): FromReader {
  const { id } = message
  try {
    return message.kind === 'find'
      ? { kind: 'found', id, task: tasks.find(message.operation) }
      : { kind: 'listed', id, page: tasks.list(message.query, message.cursor) }
  } catch (error) {
    return { kind: 'failed', id, fault: faultOf(error) }
  }
}

parentPort?.on('message', (message: ToReader) => parentPort?.postMessage(answer(message)))
