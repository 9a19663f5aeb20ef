/** Collects messages until `later` runs, and sends them as one list. */
export function inLists<T>(send: (list: readonly T[]) => void, later: (flush: () => void) => void): (word: T) => void {
  let list: T[] = []
  const flush = (): void => {
    const said = list
    list = []
    send(said)
  }
  return (word) => {
    list.push(word)
    if (list.length === 1) later(flush)
  }
}
