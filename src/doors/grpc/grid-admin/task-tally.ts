import type { GridMeter, TaskMeter } from '../../../engine/tasks/grid-meter.ts'

/** Counts of submitted and ended tasks since the start; two readings give a rate. */
export interface TaskTally {
  readonly accepted: number
  readonly ended: number
}

/** Counts by the way, for a meter that counts the rest. What the cache had came in and is over. */
export function tallied(inner: GridMeter): { readonly meter: GridMeter; readonly tally: TaskTally } {
  const tally = { accepted: 0, ended: 0 }
  // A meter of one kind of tasks is handed out again and again: it is wrapped once.
  const wrapped = new WeakMap<TaskMeter, TaskMeter>()
  const wrap = (task: TaskMeter): TaskMeter => ({
    accepted() {
      tally.accepted++
      task.accepted()
    },
    merged: () => task.merged(),
    hit() {
      tally.accepted++
      tally.ended++
      task.hit()
    },
    waited: (ms) => task.waited(ms),
    ended(state, ranMs) {
      tally.ended++
      task.ended(state, ranMs)
    },
  })
  const of: GridMeter['of'] = (instance, properties) => {
    const task = inner.of(instance, properties)
    const known = wrapped.get(task) ?? wrap(task)
    wrapped.set(task, known)
    return known
  }
  return { meter: { of, refused: (why) => inner.refused(why) }, tally }
}
