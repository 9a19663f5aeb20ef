import { randomFrom, seedOfRun } from '../../testing/random-source.ts'
import { answeringLate } from './answering-late.fixture.ts'
import type { Journal } from './journal.ts'
import { journalContract, type Made } from './journal-contract.ts'
import { memoryJournal, memoryRecords } from './memory-journal.ts'

const make = async (wrap: (journal: Journal) => Journal = (journal) => journal): Promise<Made> => {
  const records = memoryRecords()
  const journal = wrap(memoryJournal(records))
  return {
    journal,
    async reopen() {
      await journal.close()
      return wrap(memoryJournal(records))
    },
  }
}

journalContract('memory', make)

const seed = seedOfRun()
const random = randomFrom(seed)
journalContract(`answering late (WINDLASS_SEED=${seed})`, () => make((journal) => answeringLate(journal, random)))
