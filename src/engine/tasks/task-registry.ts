import { type LiveTask, type Operation, operationsOf } from './live-task.ts'
import { NameTable } from './name-table.ts'

/** The tasks and operations that are in memory, by name. */
export interface TaskRegistry {
  readonly tasks: NameTable<LiveTask>
  readonly operations: NameTable<Operation>
  /** Returns an id that no task ever had: the epoch, which is new at each start, and a counter. Ids sort by age. */
  newTaskId(): string
  add(task: LiveTask): void
  /** Removes the task and the names of its operations: from here on only the journal knows them. */
  remove(task: LiveTask): void
  /**
   * Removes the task at once and its operations' names at the end of the loop turn: a client that has just received the
   * acknowledgement is about to ask for the result, and that must not cost a journal read.
   */
  retire(task: LiveTask): void
}

export interface RegistryOptions {
  readonly epoch: number
  readonly onRemoved: (operation: Operation) => void
}

export function taskRegistry({ epoch, onRemoved }: RegistryOptions): TaskRegistry {
  const prefix = `${epoch.toString(36)}-`
  const tasks = new NameTable<LiveTask>()
  const operations = new NameTable<Operation>()
  let made = 0
  let retired: LiveTask[] = []
  const removeOperation = (operation: Operation): void => {
    operations.delete(operation.name)
    onRemoved(operation)
  }
  const remove = (task: LiveTask): void => {
    tasks.delete(task.id)
    removeOperation(task.first)
    if (task.merged !== undefined) for (const operation of task.merged) removeOperation(operation)
  }
  const removeRetired = (): void => {
    const due = retired
    retired = []
    for (const task of due) remove(task)
  }
  return {
    tasks,
    operations,
    newTaskId: () => `${prefix}${(++made).toString(36)}`,
    add(task) {
      tasks.set(task.id, task)
      if (task.merged === undefined) operations.set(task.first.name, task.first)
      else for (const operation of operationsOf(task)) operations.set(operation.name, operation)
    },
    remove,
    retire(task) {
      tasks.delete(task.id)
      if (retired.push(task) === 1) setImmediate(removeRetired)
    },
  }
}
