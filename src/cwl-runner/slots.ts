/** A number of processors: a request waits until enough are free, first come, first served. */
export interface MachineSlots {
  /** Resolves with the function that releases them. A request for more than all gets all. */
  take(count: number): Promise<() => void>
}

export function slots(total: number): MachineSlots {
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
    take(asked) {
      const count = Math.min(total, Math.max(0, asked))
      return new Promise((resolve) => {
        let isBack = false
        const giveBack = (): void => {
          if (isBack) return
          isBack = true
          free += count
          next()
        }
        waiting.push({ count, go: () => resolve(giveBack) })
        next()
      })
    },
  }
}
