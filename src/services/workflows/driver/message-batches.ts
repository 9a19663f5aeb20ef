import type { Clock } from '../../../base/clock.ts'

/** A run that waits for more answers than this may get the next one later. */
const MANY = 64
/** So long the others may wait for company. */
const GATHER_MS = 20

export const mayBeDelayed = (open: number): boolean => open > MANY

/**
 * Sends messages in lists, because waking a thread costs more than a message: those of one turn together, and those
 * that may wait with the messages of the next milliseconds.
 */
export function messageBatches<T>(post: (list: readonly T[]) => void, clock: Pick<Clock, 'after'>) {
  let list: T[] = []
  let isDue = false
  let takeBack = (): void => {}
  const flush = (): void => {
    takeBack()
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
    } else if (list.length === 1) takeBack = clock.after(GATHER_MS, flush)
  }
}
