import { workflowStoreContract } from './contract.ts'
import { memoryWorkflowStore } from './memory-workflow-store.ts'

workflowStoreContract(async () => {
  const store = memoryWorkflowStore()
  return { store, reopen: async () => store }
})
