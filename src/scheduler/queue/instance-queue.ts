import type { Heaped } from '../shares/lazy-heap.ts'
import type { Instance } from '../shares/shares.ts'
import { Level, type Strand } from './priority-level.ts'
import type { Task } from './task.ts'
import type { Pool } from './worker-pool.ts'

/**
 * Within a pool each instance has a line. A line has a level for each priority in use, and a level a strand for each
 * invocation, first in first out. The line whose instance was served least is next; in it, the level that wins by
 * priority and age; in that, the strand whose invocation was served least.
 */
export class Line implements Heaped {
  readonly pool: Pool
  readonly instance: Instance
  /** Which level is next: waiting for `agingMs` is worth one step of priority. Undefined when nothing waits. */
  next: Level | undefined
  queued = 0
  heaped = false
  /** Its place in the table of its instance; −1 when nothing waits in it. */
  at = -1
  readonly levels: Level[] = []
  /** Of each level, beside it: so that after one of them changed the others need not be touched. */
  readonly #ranks: number[] = []

  constructor(pool: Pool, instance: Instance) {
    this.pool = pool
    this.instance = instance
    this.next = undefined
  }

  get number(): number {
    return this.instance.number
  }

  isEmpty(): boolean {
    return this.queued === 0
  }

  levelFor(task: Task): Level {
    for (const level of this.levels) if (level.priority === task.priority) return level
    const made = new Level(this, task)
    this.levels.push(made)
    this.#ranks.push(made.rank)
    this.#choose()
    return made
  }

  /** Something left the level: it may not be the next any more, or be no more. */
  changed(level: Level): void {
    const at = this.levels.indexOf(level)
    if (level.queued > 0) this.#ranks[at] = level.rank
    else {
      this.levels.splice(at, 1)
      this.#ranks.splice(at, 1)
    }
    this.#choose()
  }

  #choose(): void {
    const ranks = this.#ranks
    let best = 0
    for (let i = 1; i < ranks.length; i++) if ((ranks[i] as number) < (ranks[best] as number)) best = i
    this.next = this.levels[best]
    this.instance.lines.set(this, this.next, ranks[best] ?? 0)
  }
}

/** A task that comes back goes to the front: it has waited before. */
export function joinLine(line: Line, task: Task, front: boolean): void {
  const level = line.levelFor(task)
  const strand = level.strandFor(task)
  link(strand, task, front)
  task.strand = strand
  level.queued++
  line.queued++
  level.add(strand)
}

export function leaveLine(task: Task): void {
  const { strand } = task
  if (strand === undefined) return
  const { level } = strand
  unlink(strand, task)
  task.strand = undefined
  level.line.queued--
  level.queued--
  if (strand.isEmpty()) level.ranDry(strand)
  if (level.gone(task) || level.queued === 0) level.line.changed(level)
}

function link(strand: Strand, task: Task, front: boolean): void {
  const { head, tail } = strand
  if (front) {
    task.strandNext = head
    if (head !== undefined) head.strandPrevious = task
    strand.head = task
    if (tail === undefined) strand.tail = task
  } else {
    task.strandPrevious = tail
    if (tail !== undefined) tail.strandNext = task
    strand.tail = task
    if (head === undefined) strand.head = task
  }
}

function unlink(strand: Strand, task: Task): void {
  const { strandNext: next, strandPrevious: previous } = task
  if (previous === undefined) strand.head = next
  else previous.strandNext = next
  if (next === undefined) strand.tail = previous
  else next.strandPrevious = previous
  task.strandNext = undefined
  task.strandPrevious = undefined
}
