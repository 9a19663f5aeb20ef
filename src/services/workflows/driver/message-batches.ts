import type { Clock } from '../../../base/clock.ts'

/** Who waits for more answers than this is in no hurry for the next one. */
const MANY = 64
/** So long the others may wait for company. */
const GATHER_MS = 20

export const mayBeDelayed = (open: number): boolean => open > MANY

/**
 * Hands messages over in lists, for waking a thread costs more than a message: those of one turn together, and such as
 * nobody is in a hurry for with what comes in the next moments.
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
