import type { GivenTask } from './execute-message.ts'

/** Of those that are not its own any more: more than a worker could still be about to report. */
const MOST_FORMER = 1000

/** What a worker was given. Only that can it have news of: ids that it made up are nobody's. */
export class GivenTasks {
  readonly #given = new Map<string, GivenTask>()
  readonly #former = new Set<string>()

  give(id: string, task: GivenTask): void {
    this.#given.set(id, task)
  }

  /** It has it from before, over another socket: by then its limits are not known any more. */
  claim(id: string, now: number): void {
    if (!this.#given.has(id)) this.#given.set(id, { limits: {}, sentAt: now, isCancelled: false, isClaimed: true })
  }

  get(id: string): GivenTask | undefined {
    return this.#given.get(id)
  }

  /** Its result is here. */
  done(id: string): void {
    this.#given.delete(id)
  }

  /** It is another's by now, or nobody's. */
  lose(id: string): void {
    const task = this.#given.get(id)
    this.#given.delete(id)
    if (task === undefined || task.isClaimed) return
    this.#former.add(id)
    const [oldest] = this.#former
    if (this.#former.size > MOST_FORMER && oldest !== undefined) this.#former.delete(oldest)
  }

  /** True once: the first that is said of a task that was lost. */
  takeFormer(id: string): boolean {
    return this.#former.delete(id)
  }

  get ids(): readonly string[] {
    return [...this.#given.keys()]
  }

  get size(): number {
    return this.#given.size
  }
}
