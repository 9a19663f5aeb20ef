/** Collects messages until `later` runs, and sends them as one list. */
export function inLists<T>(
  send: (list: readonly T[]) => void,
  later: (flush: () => void) => void,
): (message: T) => void {
  let list: T[] = []
  const flush = (): void => {
    const full = list
    list = []
    send(full)
  }
  return (message) => {
    list.push(message)
    if (list.length === 1) later(flush)
  }
}
