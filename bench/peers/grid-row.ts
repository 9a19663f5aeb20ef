/** Actions that run `/bin/true`, with the load generator of `npm run bench grid`. */
import { randomUUID } from 'node:crypto'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild } from '../child.ts'
import type { LoadAnswer, LoadQuestion } from '../grid/generator/load.ts'
import { quantile } from '../middle.ts'
import type { RowOptions } from './cache-row.ts'
import { findBuildbarn } from './grids/buildbarn.ts'
import { findCasdGrid } from './grids/casd.ts'
import type { FoundGrid, Grid } from './grids/grid.ts'
import { startWindlassGrid } from './grids/windlass.ts'
import { abba } from './order.ts'
import type { GridRow } from './rows.ts'
import { OURS, type RowResult, type Sample } from './sample.ts'

const SLOTS = 8
const LONGEST_WINDOW_MS = 100_000

export async function measureGridRow(row: GridRow, options: RowOptions): Promise<RowResult> {
  await using everything = new AsyncDisposableStack()
  const { folder, rounds, scale, note } = options
  const absences: string[] = []
  const contestants: Contestant[] = []
  const enter = async (grid: Grid): Promise<void> => {
    everything.use(grid)
    const generator = everything.use(startChild(new URL('../grid/generator/load.ts', import.meta.url)))
    for (const open of row.open) await windowOf({ row, grid, generator }, open, scale)
    contestants.push({ row, grid, generator })
  }
  const ours = { folder: join(folder, OURS), backend: row.backend, slots: SLOTS, languages: [] }
  await enter(await startWindlassGrid(ours))
  const finders: Record<string, (own: string) => Promise<FoundGrid>> = {
    buildbarn: (own) => findBuildbarn(own, SLOTS),
    'buildbox-casd': (own) => findCasdGrid(own, SLOTS),
  }
  for (const [name, find] of Object.entries(finders)) {
    try {
      const found = await find(join(folder, name))
      if ('absent' in found) absences.push(`${name}: ${found.absent}`)
      else await enter(found.grid)
    } catch (error) {
      absences.push(`${name}: ${error instanceof Error ? error.message : error}`)
    }
  }
  const samples: Sample[] = []
  for (const open of row.open) {
    for (const contestant of abba(contestants, rounds)) samples.push(await windowOf(contestant, open, scale))
    note(`${row.name}, ${open} at a time: done`)
  }
  return { samples, absences }
}

interface Contestant {
  readonly row: GridRow
  readonly grid: Grid
  readonly generator: Child
}

async function windowOf({ row, grid, generator }: Contestant, open: number, scale: number): Promise<Sample> {
  const count = Math.max(1, Math.round(row.count * scale))
  await generator.ask<void>({ ask: 'prepare', port: grid.port, count, word: randomUUID() } satisfies LoadQuestion)
  const before = grid.cpuUs()
  const question: LoadQuestion = { ask: 'run', count, mostMs: LONGEST_WINDOW_MS, open }
  const { latencies, count: units } = await generator.ask<LoadAnswer>(question)
  const cpuUs = grid.cpuUs() - before
  const [p50Ms, p99Ms] = [quantile(latencies, 0.5), quantile(latencies, 0.99)]
  return { contestant: grid.name, open, units, cpuUs, p50Ms, p99Ms, load: loadavg()[0] ?? Number.NaN }
}
