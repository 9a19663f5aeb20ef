import { journalContract } from '../journal-contract.ts'
import { folderForTest, openIn } from './sqlite-journal.fixture.ts'

journalContract('SQLite', async () => {
  const folder = folderForTest()
  const journal = await openIn(folder)
  return {
    journal,
    async reopen() {
      await journal.close()
      return openIn(folder)
    },
  }
})
