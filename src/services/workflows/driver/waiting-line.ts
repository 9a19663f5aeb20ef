/** A number of places. A request waits until enough are free; requests are served in order. */
export interface WaitingLine {
  /** Resolves with a function that frees the places. A request for more than the total gets all places. */
  enter(count: number): Promise<() => void>
}

export function waitingLine(total: number): WaitingLine {
  let free = total
  const waiting: { readonly count: number; readonly go: () => void }[] = []
  const next = (): void => {
    for (let first = waiting[0]; first !== undefined && first.count <= free; first = waiting[0]) {
      waiting.shift()
      free -= first.count
      first.go()
    }
  }
  return {
    enter(asked) {
      const count = Math.min(total, Math.max(0, asked))
      return new Promise((resolve) => {
        let hasLeft = false
        const leave = (): void => {
          if (hasLeft) return
          hasLeft = true
          free += count
          next()
        }
        waiting.push({ count, go: () => resolve(leave) })
        next()
      })
    },
  }
}
