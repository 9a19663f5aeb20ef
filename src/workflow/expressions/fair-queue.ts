/** The instance and the workflow run that an item belongs to. */
export interface Share {
  readonly instance: string
  readonly submission: string
}

/**
 * A queue that shares processor time: first among instances, then among the workflow runs of an instance. The next item
 * belongs to the run that has used the least time. A run that returns after a pause starts level with the others: it
 * cannot save up unused time (start-time fair queueing).
 */
export class FairQueue<T extends Share> {
  readonly #instances = new Turns<Turns<T[]>>()

  add(item: T): void {
    const submissions = this.#instances.join(item.instance, () => new Turns<T[]>())
    submissions.join(item.submission, () => []).push(item)
  }

  /** Removes the oldest item of the run whose turn it is, among those that are allowed now. */
  take(isAllowed: (share: Share) => boolean = () => true): T | undefined {
    const mayRun = (instance: string, submissions: Turns<T[]>): boolean =>
      submissions.least((submission) => isAllowed({ instance, submission })) !== undefined
    const instance = this.#instances.least(mayRun)
    if (instance === undefined) return undefined
    const submissions = this.#instances.get(instance)
    const submission = submissions?.least((name) => isAllowed({ instance, submission: name }))
    return submission === undefined ? undefined : this.#removeFrom({ instance, submission })
  }

  /** Records the time that an item used. */
  charge({ instance, submission }: Share, ms: number): void {
    this.#instances.get(instance)?.charge(submission, ms)
    this.#instances.charge(instance, ms)
  }

  /** Removes the waiting items of a run. */
  remove(share: Share): readonly T[] {
    const removed: T[] = []
    for (let item = this.#removeFrom(share); item !== undefined; item = this.#removeFrom(share)) removed.push(item)
    return removed
  }

  #removeFrom({ instance, submission }: Share): T | undefined {
    const submissions = this.#instances.get(instance)
    const items = submissions?.get(submission)
    const item = items?.shift()
    if (item === undefined || submissions === undefined) return undefined
    if (items?.length === 0) submissions.leave(submission)
    if (submissions.isEmpty) this.#instances.leave(instance)
    return item
  }
}

interface Turn<V> {
  readonly value: V
  usedMs: number
  isWaiting: boolean
}

/** Named parties and the time that each has used. Removes idle parties once the waiting ones have used as much time. */
class Turns<V> {
  readonly #turns = new Map<string, Turn<V>>()
  #levelMs = 0
  #waiting = 0

  get isEmpty(): boolean {
    return this.#waiting === 0
  }

  get(name: string): V | undefined {
    return this.#turns.get(name)?.value
  }

  join(name: string, create: () => V): V {
    const turn = this.#turns.get(name) ?? { value: create(), usedMs: 0, isWaiting: false }
    this.#turns.set(name, turn)
    if (!turn.isWaiting) {
      turn.isWaiting = true
      turn.usedMs = Math.max(turn.usedMs, this.#levelMs)
      this.#waiting += 1
    }
    return turn.value
  }

  leave(name: string): void {
    const turn = this.#turns.get(name)
    if (turn?.isWaiting !== true) return
    turn.isWaiting = false
    this.#waiting -= 1
  }

  least(isAllowed: (name: string, value: V) => boolean): string | undefined {
    let best: { readonly name: string; readonly usedMs: number } | undefined
    for (const [name, { usedMs, isWaiting, value }] of this.#turns)
      if (isWaiting && (best === undefined || usedMs < best.usedMs) && isAllowed(name, value)) best = { name, usedMs }
    return best?.name
  }

  charge(name: string, ms: number): void {
    const turn = this.#turns.get(name)
    if (turn === undefined) return
    turn.usedMs += ms
    let least = Number.POSITIVE_INFINITY
    for (const { isWaiting, usedMs } of this.#turns.values()) if (isWaiting) least = Math.min(least, usedMs)
    this.#levelMs = Number.isFinite(least) ? least : turn.usedMs
    for (const [other, { isWaiting, usedMs }] of this.#turns)
      if (!isWaiting && usedMs <= this.#levelMs) this.#turns.delete(other)
  }
}
