import { honestActionCache } from './honest-action-cache.ts'
import { honestByteStream } from './honest-bytestream.ts'
import { honestCas } from './honest-cas.ts'
import { honestTrees } from './honest-trees.ts'
import type { Methods } from './methods.ts'
import { capabilitiesFor, type Profile } from './profile.ts'
import { createStore, type Store } from './store.ts'

export interface Honest {
  readonly methods: Methods
  readonly store: Store
}

/** The smallest server that passes every check: maps in memory. Tests add one defect to it at a time. */
export function honest(profile: Profile): Honest {
  const store = createStore()
  const methods = {
    getCapabilities: () => capabilitiesFor(profile),
    ...honestCas(store),
    ...honestTrees(store, profile),
    ...honestByteStream(store),
    ...honestActionCache(store, profile),
  }
  return { methods, store }
}
