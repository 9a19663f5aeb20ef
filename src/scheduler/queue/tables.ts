import { TASK_STATES, type TaskState } from '../../model/task-state.ts'
import { type Requirements, sameRequirements } from '../model/requirements.ts'
import { TASK_MOVES, type TaskMove } from '../model/task-machine.ts'
import { HashIndex, textHash } from './hash-index.ts'
import type { InstanceState, RequirementGroup, Task } from './records.ts'

/** All unfinished tasks by id, and by action key those with which identical tasks are merged. */
export class TaskTable {
  readonly #tasks: (Task | undefined)[] = []
  readonly #free: number[] = []
  readonly #byId = new HashIndex()
  readonly #byAction = new HashIndex()
  /** The number of tasks in each state. */
  readonly counts = Object.fromEntries(TASK_STATES.map((state) => [state, 0])) as Record<TaskState, number>
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

  /** The number of tasks that wait for a worker or for a retry. */
  get waiting(): number {
    return this.counts.queued + this.counts.retrying
  }

  add(task: Task): void {
    task.number = this.#free.pop() ?? this.#tasks.length
    this.#tasks[task.number] = task
    task.idHash = this.#ids.of(task.id)
    this.#byId.add(task.idHash, task.number)
    this.counts[task.state]++
  }

  /** Applies a move of the task's state table. */
  move(task: Task, move: TaskMove): void {
    const next = TASK_MOVES[task.state][move]
    if (next === undefined) throw new Error(`a task in state ${task.state} has no move ${move}`)
    this.counts[task.state]--
    this.counts[next]++
    task.state = next
  }

  delete(task: Task): void {
    this.stopMerging(task)
    this.counts[task.state]--
    this.#byId.remove(task.idHash, task.number)
    this.#tasks[task.number] = undefined
    this.#free.push(task.number)
  }

  /** Reads the memory that `delete` will need; see `preloadTask`. */
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

/**
 * All requirement groups, by requirements. Every submission looks up its group with new strings. They are hashed in
 * place and compared with the one group of the same hash; a `Map` would first need all of them joined to one string.
 */
export class RequirementGroupTable {
  readonly #groups: (RequirementGroup | undefined)[] = []
  readonly #free: number[] = []
  readonly #index = new HashIndex()
  readonly #seed: number

  /** The seed is secret: otherwise a client could choose properties that all have the same hash. */
  constructor(seed: number) {
    this.#seed = seed
  }

  get size(): number {
    return this.#groups.length - this.#free.length
  }

  get(requirements: Requirements): RequirementGroup | undefined {
    const hash = this.#hashOf(requirements)
    for (let at = this.#index.seek(hash); at >= 0; at = this.#index.seek(hash, at + 1)) {
      const group = this.#groups[this.#index.numberAt(at)]
      if (group !== undefined && sameRequirements(group, requirements)) return group
    }
    return undefined
  }

  /** The group must not be in the table. */
  add(group: RequirementGroup): void {
    group.number = this.#free.pop() ?? this.#groups.length
    this.#groups[group.number] = group
    this.#index.add(this.#hashOf(group), group.number)
  }

  delete(group: RequirementGroup): void {
    this.#index.remove(this.#hashOf(group), group.number)
    this.#groups[group.number] = undefined
    this.#free.push(group.number)
  }

  *values(): Generator<RequirementGroup> {
    for (const group of this.#groups) if (group !== undefined) yield group
  }

  #hashOf({ properties, refusesPreemptible, bucket }: Requirements): number {
    let hash = this.#seed ^ (refusesPreemptible ? ~bucket : bucket)
    for (const { name, value } of properties) hash = textHash(value, textHash(name, hash))
    return hash
  }
}
