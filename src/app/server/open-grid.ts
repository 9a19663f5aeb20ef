import type { Config } from '../config/config.ts'
import { type Grid, openGrid } from './grid.ts'
import type { GridTools } from './grid-engine.ts'
import { isForLackOfSpace, lateGrid } from './late-grid.ts'
import type { Readiness } from './readiness.ts'

export interface GridStart extends GridTools {
  readonly readiness: Readiness
}

/**
 * Opens the grid. When the disk is too full for the journal, the grid opens later, so that callers can still use the
 * cache.
 */
export async function openGridIfPossible(config: Config, start: GridStart): Promise<Grid | undefined> {
  if (!config.capabilities.exec_enabled) return undefined
  const { readiness, ...tools } = start
  const open = (): Promise<Grid> => openGrid(config, tools)
  try {
    return await open()
  } catch (error) {
    if (!isForLackOfSpace(error)) throw error
    const { makeSpace } = tools.storage
    return lateGrid({ open, makeSpace, first: error, readiness, clock: tools.clock, log: tools.log })
  }
}
