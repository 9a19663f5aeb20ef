import type { Clock } from '../../../base/clock.ts'

/** A run with more open questions than this may get the next answer later. */
const MANY = 64
/** How long a message may wait for others, in milliseconds. */
const GATHER_MS = 20

export const mayBeDelayed = (open: number): boolean => open > MANY

/**
 * Sends messages in batches, because waking a thread costs more than a message. Messages of one turn are sent together.
 * Those that may wait are sent with the messages of the next `GATHER_MS`.
 */
export function messageBatches<T>(post: (list: readonly T[]) => void, clock: Pick<Clock, 'after'>) {
  let list: T[] = []
  let isDue = false
  let cancelTimer = (): void => {}
  const flush = (): void => {
    cancelTimer()
    const all = list
    list = []
    isDue = false
    if (all.length > 0) post(all)
  }
  return (message: T, mayWait = false): void => {
    list.push(message)
    if (isDue) return
    if (!mayWait) {
      isDue = true
      setImmediate(flush)
    } else if (list.length === 1) cancelTimer = clock.after(GATHER_MS, flush)
  }
}
