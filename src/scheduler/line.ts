import { type Heaped, LazyHeap } from './lazy-heap.ts'
import type { Pool } from './pool.ts'
import { catchUp, type Instance, type Invocation, servedOf } from './shares.ts'
import type { Task } from './task.ts'

/**
 * Within a pool each instance has a line. A line has a level for each priority in use, and a level a strand for each
 * invocation, first in first out. The line whose instance was served least is next; in it, the level that wins by
 * priority and age; in that, the strand whose invocation was served least.
 */
export class Line implements Heaped {
  readonly pool: Pool
  readonly instance: Instance
  readonly levels: Level[] = []
  queued = 0
  heaped = false

  constructor(pool: Pool, instance: Instance) {
    this.pool = pool
    this.instance = instance
  }

  get number(): number {
    return this.instance.number
  }

  isEmpty(): boolean {
    return this.queued === 0
  }

  /** Which priority is next: waiting for `agingMs` is worth one step. Undefined when nothing waits. */
  nextLevel(agingMs: number): Level | undefined {
    if (this.levels.length === 1) return this.levels[0]
    let best: Level | undefined
    let bestRank = Number.POSITIVE_INFINITY
    for (const level of this.levels) {
      const rank = level.rank(agingMs)
      if (rank < bestRank) [best, bestRank] = [level, rank]
    }
    return best
  }
}

export class Level {
  readonly line: Line
  readonly priority: number
  readonly strands = new Map<Invocation, Strand>()
  readonly order: LazyHeap<Strand>
  queued = 0
  /** When the task that last went from it was accepted; before one has, the first that came. */
  since: number

  constructor(line: Line, { priority, acceptedAt }: Task) {
    this.line = line
    this.priority = priority
    this.since = acceptedAt
    const { ledger } = line.instance
    this.order = new LazyHeap(ledger, (strand) => this.strands.delete(strand.invocation))
  }

  /**
   * Lower goes sooner. How long its next task has waited is taken from the last one that went, which came just before
   * it: a level that is passed over stays where it is while the others move on, and nothing has to be looked up.
   */
  rank(agingMs: number): number {
    return this.priority * agingMs + this.since
  }
}

export class Strand implements Heaped {
  readonly level: Level
  readonly invocation: Invocation
  head: Task | undefined
  tail: Task | undefined
  heaped = false

  constructor(level: Level, invocation: Invocation) {
    this.level = level
    this.invocation = invocation
  }

  get number(): number {
    return this.invocation.number
  }

  isEmpty(): boolean {
    return this.head === undefined
  }
}

/** A task that comes back goes to the front: it has waited before. */
export function joinLine(line: Line, task: Task, front: boolean): void {
  const level = levelOf(line, task)
  const strand = strandOf(level, task)
  link(strand, task, front)
  task.strand = strand
  level.queued++
  line.queued++
  level.order.add(strand)
}

export function leaveLine(task: Task): void {
  const { strand } = task
  if (strand === undefined) return
  const { level } = strand
  unlink(strand, task)
  task.strand = undefined
  level.line.queued--
  if (task.acceptedAt > level.since) level.since = task.acceptedAt
  if (--level.queued === 0) level.line.levels.splice(level.line.levels.indexOf(level), 1)
}

function levelOf(line: Line, task: Task): Level {
  for (const level of line.levels) if (level.priority === task.priority) return level
  const made = new Level(line, task)
  line.levels.push(made)
  return made
}

function strandOf(level: Level, { invocation }: Task): Strand {
  // One that had nothing waiting begins beside those that wait, neither ahead of them nor behind.
  if (invocation.queued === 0) {
    const next = level.order.first()
    catchUp(invocation, next === undefined ? invocation.instance.clock : servedOf(next.invocation))
  }
  const known = level.strands.get(invocation)
  if (known !== undefined) return known
  const made = new Strand(level, invocation)
  level.strands.set(invocation, made)
  return made
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
