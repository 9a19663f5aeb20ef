import { HashIndex, textHash } from './hash-index.ts'
import type { InstanceState, Task } from './records.ts'

/** All unfinished tasks by id, and by action key those with which identical tasks are merged. */
export class TaskTable {
  readonly #tasks: (Task | undefined)[] = []
  readonly #free: number[] = []
  readonly #byId = new HashIndex()
  readonly #byAction = new HashIndex()
  readonly #ids: Hasher
  readonly #actions: Hasher

  /** The seed is secret: otherwise a client could choose ids that all have the same hash. */
  constructor(seed: number) {
    this.#ids = new Hasher(seed)
    this.#actions = new Hasher(~seed)
  }

  get(id: string): Task | undefined {
    const hash = this.#ids.of(id)
    for (let at = this.#byId.seek(hash); at >= 0; at = this.#byId.seek(hash, at + 1)) {
      const task = this.#tasks[this.#byId.numberAt(at)]
      if (task?.id === id) return task
    }
    return undefined
  }

  has(id: string): boolean {
    return this.get(id) !== undefined
  }

  add(task: Task): void {
    task.number = this.#free.pop() ?? this.#tasks.length
    this.#tasks[task.number] = task
    task.idHash = this.#ids.of(task.id)
    this.#byId.add(task.idHash, task.number)
  }

  delete(task: Task): void {
    this.stopMerging(task)
    this.#byId.remove(task.idHash, task.number)
    this.#tasks[task.number] = undefined
    this.#free.push(task.number)
  }

  /** Reads the memory that `delete` will need; see `leases/preload-task.ts`. */
  preload({ number, idHash, actionHash }: Task): number {
    return this.#byId.preload(idHash) + this.#byAction.preload(actionHash) + (this.#tasks[number] === undefined ? 1 : 0)
  }

  /** The task of the instance with which a task with this action key is merged. */
  identical(instance: InstanceState, actionKey: string): Task | undefined {
    const hash = this.#actions.of(actionKey) ^ instance.number
    for (let at = this.#byAction.seek(hash); at >= 0; at = this.#byAction.seek(hash, at + 1)) {
      const task = this.#tasks[this.#byAction.numberAt(at)]
      if (task?.instance === instance && task.actionKey === actionKey) return task
    }
    return undefined
  }

  /** From now on, identical tasks are merged with this one, unless they are merged with another one already. */
  startMerging(task: Task): void {
    const { actionKey, instance } = task
    if (actionKey === undefined || this.identical(instance, actionKey) !== undefined) return
    task.merges = true
    task.actionHash = this.#actions.of(actionKey) ^ instance.number
    this.#byAction.add(task.actionHash, task.number)
  }

  /** From now on, identical tasks are separate tasks. */
  stopMerging(task: Task): void {
    if (!task.merges) return
    task.merges = false
    this.#byAction.remove(task.actionHash, task.number)
  }
}

/** Remembers the last hash, because most texts are looked up before they are added. */
class Hasher {
  readonly #seed: number
  #text = ''
  #hash: number

  constructor(seed: number) {
    this.#seed = seed
    this.#hash = textHash('', seed)
  }

  of(text: string): number {
    if (text === this.#text) return this.#hash
    this.#text = text
    this.#hash = textHash(text, this.#seed)
    return this.#hash
  }
}
