import { mkdirSync } from 'node:fs'
import { FaultError } from '../../../base/fault.ts'
import { holdFolder } from '../../packs/folder-lock.ts'
import type { Journal } from '../journal.ts'
import { HistoryThread } from './history-thread.ts'
import type { ThreadSettings } from './thread-messages.ts'
import { WriterLink } from './writer-link.ts'

export interface SqliteJournalOptions {
  /** A folder of its own. One process at a time; a second one is refused, with the process id of the first. */
  readonly folder: string
  /** The name of this server, in every row. */
  readonly owner: string
  readonly pid: number
}

/** A journal in one SQLite database: a thread that writes, and one that reads when somebody asks. */
export async function sqliteJournal({ folder, owner, pid }: SqliteJournalOptions): Promise<Journal> {
  mkdirSync(folder, { recursive: true })
  const letGo = holdFolder(folder, pid)
  const settings: ThreadSettings = { folder, owner }
  const reader = new HistoryThread(settings)
  const writer = new WriterLink(settings)
  try {
    await writer.opened
  } catch (error) {
    await writer.end()
    letGo()
    throw error
  }
  let closing: Promise<void> | undefined
  const refuseIfClosed = (): void => {
    if (closing !== undefined) throw closed()
  }
  return {
    async recover() {
      refuseIfClosed()
      return writer.recover()
    },
    // Not async: that would be one promise more, a hundred thousand times a second.
    record: (facts, durability) =>
      closing === undefined ? writer.record(facts, durability) : Promise.reject(closed()),
    async find(operation) {
      refuseIfClosed()
      return reader.find(operation)
    },
    async list(query, cursor) {
      refuseIfClosed()
      return reader.list(query, cursor)
    },
    async forget(before) {
      refuseIfClosed()
      return writer.forget(before)
    },
    close() {
      closing ??= reader
        .close()
        .then(() => writer.close())
        .finally(letGo)
      return closing
    },
  }
}

const closed = (): FaultError => new FaultError({ kind: 'unavailable', what: 'the journal is closed' })
