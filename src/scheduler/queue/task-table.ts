import type { InstanceState } from '../shares/shares.ts'
import { HashIndex, textHash } from './hash-index.ts'
import type { Task } from './task.ts'

/** All tasks that are not finished: by id, and by action key those that an identical one would be merged with. */
export class TaskTable {
  readonly #tasks: (Task | undefined)[] = []
  readonly #free: number[] = []
  readonly #byId = new HashIndex()
  readonly #byAction = new HashIndex()
  readonly #ids: Hasher
  readonly #actions: Hasher

  /** The seed is nobody's to know: else somebody could choose texts that all have one hash. */
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

  /** Reads what deleting it will look at, and does nothing with it. */
  fetch({ number, idHash, actionHash }: Task): number {
    return this.#byId.fetch(idHash) + this.#byAction.fetch(actionHash) + (this.#tasks[number] === undefined ? 1 : 0)
  }

  /** The task of the instance that one with this action key would be merged with. */
  identical(instance: InstanceState, actionKey: string): Task | undefined {
    const hash = this.#actions.of(actionKey) ^ instance.number
    for (let at = this.#byAction.seek(hash); at >= 0; at = this.#byAction.seek(hash, at + 1)) {
      const task = this.#tasks[this.#byAction.numberAt(at)]
      if (task?.instance === instance && task.actionKey === actionKey) return task
    }
    return undefined
  }

  /** Identical tasks are merged with this one, if there is none yet with which they are. */
  startMerging(task: Task): void {
    const { actionKey, instance } = task
    if (actionKey === undefined || this.identical(instance, actionKey) !== undefined) return
    task.merges = true
    task.actionHash = this.#actions.of(actionKey) ^ instance.number
    this.#byAction.add(task.actionHash, task.number)
  }

  /** An identical task that comes from now on is another one. */
  stopMerging(task: Task): void {
    if (!task.merges) return
    task.merges = false
    this.#byAction.remove(task.actionHash, task.number)
  }
}

/** Remembers the last one, for a text is mostly asked for before it is put in. */
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
