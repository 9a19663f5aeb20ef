/** A server that executes actions, with its workers. */
import type { Spawned } from '../../cache/peers/spawned.ts'

export interface Grid extends AsyncDisposable {
  readonly name: string
  /** The port of Execute and of uploads. */
  readonly port: number
  /** The CPU time of all processes of the grid. */
  cpuUs(): number
}

/** A grid, or the reason why it is absent. */
export type FoundGrid = { readonly grid: Grid } | { readonly absent: string }

export const gridOf = (name: string, port: number, processes: readonly Spawned[]): Grid => ({
  name,
  port,
  cpuUs: () => processes.reduce((sum, process) => sum + process.usage().cpuUs, 0),
  async [Symbol.asyncDispose]() {
    for (const process of processes.toReversed()) await process[Symbol.asyncDispose]()
  },
})
