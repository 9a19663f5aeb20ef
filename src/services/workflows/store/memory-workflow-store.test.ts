import { submissionStoreContract } from './contract.ts'
import { memorySubmissions } from './memory-workflow-store.ts'

submissionStoreContract(async () => {
  const store = memorySubmissions()
  return { store, reopen: async () => store }
})
