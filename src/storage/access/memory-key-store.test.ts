import { keyStoreContract } from './contract.ts'
import { memoryKeyStore } from './memory-key-store.ts'

keyStoreContract('memory', memoryKeyStore)
