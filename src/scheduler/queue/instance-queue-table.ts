import type { Line } from './instance-queue.ts'
import type { Level } from './priority-level.ts'
import type { Pool } from './worker-pool.ts'

/**
 * For each line of one instance in which something waits, the level that is next and its rank. The ranks lie side by
 * side: which of them a worker takes from is found without touching any of the others, and there may be one in every
 * pool.
 */
export class LineTable {
  readonly ranks: number[] = []
  readonly pools: Pool[] = []
  readonly levels: Level[] = []

  /** Without a level the line goes out, and the last one takes its place. */
  set(line: Line, level: Level | undefined, rank: number): void {
    if (level === undefined) this.#remove(line)
    else if (line.at >= 0) {
      this.ranks[line.at] = rank
      this.levels[line.at] = level
    } else {
      line.at = this.levels.push(level) - 1
      this.pools.push(line.pool)
      this.ranks.push(rank)
    }
  }

  #remove(line: Line): void {
    const { at } = line
    if (at < 0) return
    line.at = -1
    const rank = this.ranks.pop() as number
    const pool = this.pools.pop() as Pool
    const level = this.levels.pop() as Level
    if (at === this.levels.length) return
    this.ranks[at] = rank
    this.pools[at] = pool
    this.levels[at] = level
    level.line.at = at
  }
}
