import type { InstanceQueue } from './instance-queue.ts'
import type { PriorityLevel } from './priority-level.ts'
import type { WorkerPool } from './worker-pool.ts'

/**
 * For each line of one instance in which something waits, the level that is next and its rank. The ranks lie side by
 * side: which of them a worker takes from is found without touching any of the others, and there may be one in every
 * pool.
 */
export class InstanceQueueTable {
  readonly ranks: number[] = []
  readonly pools: WorkerPool[] = []
  readonly levels: PriorityLevel[] = []

  /** Without a level the line goes out, and the last one takes its place. */
  set(instanceQueue: InstanceQueue, level: PriorityLevel | undefined, rank: number): void {
    if (level === undefined) this.#remove(instanceQueue)
    else if (instanceQueue.at >= 0) {
      this.ranks[instanceQueue.at] = rank
      this.levels[instanceQueue.at] = level
    } else {
      instanceQueue.at = this.levels.push(level) - 1
      this.pools.push(instanceQueue.pool)
      this.ranks.push(rank)
    }
  }

  #remove(instanceQueue: InstanceQueue): void {
    const { at } = instanceQueue
    if (at < 0) return
    instanceQueue.at = -1
    const rank = this.ranks.pop() as number
    const pool = this.pools.pop() as WorkerPool
    const level = this.levels.pop() as PriorityLevel
    if (at === this.levels.length) return
    this.ranks[at] = rank
    this.pools[at] = pool
    this.levels[at] = level
    level.instanceQueue.at = at
  }
}
