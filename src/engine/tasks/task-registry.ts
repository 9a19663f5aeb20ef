import { sameFencing } from '../../model/fencing.ts'
import type { AttemptRef } from '../../scheduler/model/events.ts'
import { type LiveTask, type Operation, operationsOf, type TaskBytes } from './live-task.ts'

/** The tasks and operations that are in memory. */
export interface TaskRegistry {
  readonly tasks: NameTable<LiveTask>
  readonly operations: NameTable<Operation>
  readonly unwatched: Unwatched
  /** Tasks whose facts are written at the end of the current event. */
  changed: LiveTask[]
  /** Returns an id that no task ever had: the epoch, which is new at each start, and a counter. Ids sort by age. */
  newTaskId(): string
  /** The callers' buffers may be reused when it returns. */
  copyBytes(note: Uint8Array | undefined, spec: Uint8Array): TaskBytes
  add(task: LiveTask): void
  markChanged(task: LiveTask): void
  /** Returns the task if the worker holds the attempt, and if it is the current attempt of the task. */
  heldBy(worker: string, attempt: AttemptRef): LiveTask | undefined
  /** Removes the task and the names of its operations. After that only the journal has them. */
  remove(task: LiveTask): void
  /**
   * Removes the task at once, and its operations' names at the end of the loop turn: a client that has just received
   * the acknowledgement will request the result, and that must not cost a journal read.
   */
  retire(task: LiveTask): void
}

export function taskRegistry(epoch: number): TaskRegistry {
  const prefix = `${epoch.toString(36)}-`
  const tasks = new NameTable<LiveTask>()
  const operations = new NameTable<Operation>()
  const unwatched = new Unwatched()
  let made = 0
  let retired: LiveTask[] = []
  const remove = (task: LiveTask): void => {
    tasks.delete(task.id)
    for (const operation of operationsOf(task)) {
      operations.delete(operation.name)
      unwatched.delete(operation)
    }
  }
  const removeRetired = (): void => {
    const due = retired
    retired = []
    for (const task of due) remove(task)
  }
  return {
    tasks,
    operations,
    unwatched,
    changed: [],
    copyBytes: slabs(),
    newTaskId: () => `${prefix}${(++made).toString(36)}`,
    add(task) {
      tasks.set(task.id, task)
      for (const operation of operationsOf(task)) operations.set(operation.name, operation)
    },
    markChanged(task) {
      if (task.isChanged) return
      task.isChanged = true
      this.changed.push(task)
    },
    heldBy(worker, { task: id, fencing }) {
      const task = tasks.get(id)
      if (task?.fencing === undefined || task.worker !== worker) return undefined
      return sameFencing(task.fencing, fencing) ? task : undefined
    },
    remove,
    retire(task) {
      tasks.delete(task.id)
      if (retired.push(task) === 1) setImmediate(removeRetired)
    },
  }
}

/**
 * Copies of the bytes of many tasks share an ArrayBuffer of this size. A copy larger than a quarter of it has its own.
 */
const SLAB_BYTES = 64 * 1024

function slabs(): TaskRegistry['copyBytes'] {
  let slab = new Uint8Array()
  let used = 0
  return (note, spec) => {
    const noteLength = note?.length ?? 0
    const length = noteLength + spec.length
    if (used + length > slab.length) {
      if (length > SLAB_BYTES / 4) return copied(new Uint8Array(length), note, spec)
      slab = new Uint8Array(SLAB_BYTES)
      used = 0
    }
    used += length
    return copied(slab.subarray(used - length, used), note, spec)
  }
}

function copied(noteAndSpec: Uint8Array, note: Uint8Array | undefined, spec: Uint8Array): TaskBytes {
  if (note !== undefined) noteAndSpec.set(note)
  noteAndSpec.set(spec, note?.length ?? 0)
  return { noteAndSpec, noteLength: note?.length ?? -1 }
}

/**
 * Objects by name, for ten thousand insertions and deletions per second. A Map that holds the objects itself keeps
 * deleted ones alive: each rehash leaves an old table that points to the next one, and once one of them is in the old
 * generation, all tables after it and their contents survive until a full collection (measured with 1,000 open tasks:
 * 13 ms per young collection, against 5 to 7 ms). Here the Map holds only numbers: indexes of slots that are cleared
 * and reused.
 */
export class NameTable<T> {
  readonly #slots = new Map<string, number>()
  readonly #objects: (T | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#slots.size
  }

  has(name: string): boolean {
    return this.#slots.has(name)
  }

  get(name: string): T | undefined {
    const slot = this.#slots.get(name)
    return slot === undefined ? undefined : this.#objects[slot]
  }

  set(name: string, object: T): void {
    const known = this.#slots.get(name)
    const slot = known ?? this.#free.pop() ?? this.#objects.length
    if (known === undefined) this.#slots.set(name, slot)
    this.#objects[slot] = object
  }

  delete(name: string): void {
    const slot = this.#slots.get(name)
    if (slot === undefined) return
    this.#slots.delete(name)
    this.#objects[slot] = undefined
    this.#free.push(slot)
  }

  /** In the order of insertion. Insertions and deletions during the iteration are visible, as in a Map. */
  *values(): Generator<T> {
    for (const slot of this.#slots.values()) {
      const object = this.#objects[slot]
      if (object !== undefined) yield object
    }
  }
}

/**
 * Operations that need a watcher and have none, oldest first. Most stay here for less than a millisecond, so the list
 * is linked through the operations themselves. A deleted operation clears its links, for the reason that NameTable
 * gives.
 */
export class Unwatched {
  oldest: Operation | undefined
  #newest: Operation | undefined

  add(operation: Operation, at: number): void {
    operation.unwatchedAt = at
    operation.unwatchedBefore = this.#newest
    if (this.#newest === undefined) this.oldest = operation
    else this.#newest.unwatchedAfter = operation
    this.#newest = operation
  }

  /** Does nothing when the operation is not in the list. */
  delete(operation: Operation): void {
    if (operation.unwatchedAt === undefined) return
    const { unwatchedBefore: before, unwatchedAfter: after } = operation
    if (before === undefined) this.oldest = after
    else before.unwatchedAfter = after
    if (after === undefined) this.#newest = before
    else after.unwatchedBefore = before
    operation.unwatchedAt = undefined
    operation.unwatchedBefore = undefined
    operation.unwatchedAfter = undefined
  }
}
