import { submissionStoreContract } from './contract.ts'
import { memorySubmissions } from './memory-submissions.ts'

submissionStoreContract(async () => {
  const store = memorySubmissions()
  return { store, reopen: async () => store }
})
