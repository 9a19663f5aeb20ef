import type { GivenTask } from './response.ts'

/** Limit of remembered former attempts: more than a worker could still report. */
const MOST_FORMER = 1000

/** Fields of an `execute` message that a worker may echo to name the attempt. */
export interface AttemptLabel {
  readonly attempt?: number | null | undefined
  readonly fencing?: string | null | undefined
}

/**
 * The tasks that were sent to a worker over this socket, by the id of the task. A task has one attempt at a time. So a
 * message without a label refers to the attempt that the worker holds; one with a label refers to that attempt or to an
 * earlier one.
 */
export class GivenTasks {
  readonly #given = new Map<string, GivenTask>()
  readonly #taskIds = new Map<string, string>()
  /** Keyed by the id of the attempt. */
  readonly #former = new Map<string, GivenTask>()

  give(task: GivenTask): void {
    this.lose(task.taskId)
    this.#given.set(task.taskId, task)
    this.#taskIds.set(task.attemptId, task.taskId)
  }

  get(taskId: string, label: AttemptLabel = {}): GivenTask | undefined {
    const task = this.#given.get(taskId)
    return task !== undefined && isMeant(task, label) ? task : undefined
  }

  withAttempt(attemptId: string): GivenTask | undefined {
    return this.#given.get(this.#taskIds.get(attemptId) ?? '')
  }

  /** The worker has sent the result. */
  done(taskId: string): void {
    const task = this.#given.get(taskId)
    if (task === undefined) return
    this.#given.delete(taskId)
    this.#taskIds.delete(task.attemptId)
    task.giveUpCorrection?.()
  }

  /** The attempt was assigned to another worker, or was discarded. */
  lose(taskId: string): void {
    const task = this.#given.get(taskId)
    if (task === undefined) return
    this.done(taskId)
    this.#former.set(task.attemptId, task)
    const [oldest] = this.#former.keys()
    if (this.#former.size > MOST_FORMER && oldest !== undefined) this.#former.delete(oldest)
  }

  /** Returns an attempt that the worker has lost, for its first report; undefined for later reports. */
  takeFormer(taskId: string, label: AttemptLabel): GivenTask | undefined {
    for (const task of this.#former.values()) {
      if (task.taskId !== taskId || !isMeant(task, label)) continue
      this.#former.delete(task.attemptId)
      return task
    }
    return undefined
  }

  get taskIds(): readonly string[] {
    return [...this.#given.keys()]
  }

  get attemptIds(): readonly string[] {
    return [...this.#taskIds.keys()]
  }

  get size(): number {
    return this.#given.size
  }
}

const isMeant = (task: GivenTask, { attempt, fencing }: AttemptLabel): boolean =>
  (attempt == null || attempt === task.attempt) && (fencing == null || task.attemptId.endsWith(`.${fencing}`))
