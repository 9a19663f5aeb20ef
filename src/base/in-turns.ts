import type { Digest, DigestList } from './digest.ts'
import { digestAt } from './digest-list.ts'

/**
 * Long work on the main thread, in slices. A request may name a tree of 100,000 directories, and all other calls of the
 * process would wait until the work is done; so the work pauses after each slice, and the event loop serves them.
 */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Runs work that yields wherever it may pause; other calls have their turn at each pause. */
export async function inTurns<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    await turn()
  }
}

/** Digests that are turned into objects between two pauses: about 4 ms of work. */
const DIGESTS_AT_A_TIME = 1024

/** Calls `visit` for each digest of the list, in order. */
export async function eachInTurns(list: DigestList, visit: (digest: Digest) => void): Promise<void> {
  for (let index = 0; index < list.count; index++) {
    if (index > 0 && index % DIGESTS_AT_A_TIME === 0) await turn()
    visit(digestAt(list, index))
  }
}
