/**
 * Measures the time and CPU that the grid adds to a command. Actions run `/bin/true` on one machine with one worker; the
 * spawner of a worker starts the same command without the grid, for comparison. Server, worker and load generator are
 * separate processes. The server alone is measured with a worker that reports each task as completed at once.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../child.ts'
import { checkLong } from './long.ts'
import { type Bench, wants } from './measuring.ts'
import { parseOptions } from './options.ts'
import { startServer } from './peers/windlass.ts'
import { type Bar, barsText } from './report.ts'
import { measureScheduling } from './scheduling.ts'
import { measureWorker } from './worker-rows.ts'

export async function run(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-grid-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  console.log(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)} before, Node ${process.version}.\n`,
  )
  await using everything = new AsyncDisposableStack()
  const generator = everything.use(startChild(new URL('./generator/load.ts', import.meta.url)))
  const server = everything.use(await startServer(folder))
  const bench: Bench = { options, folder, generator, server }
  if (options.long) return await checkLong(bench)
  const bars: Bar[] = []
  if (wants(bench, 'run') || wants(bench, 'hit')) bars.push(...(await measureWorker(bench)))
  if (wants(bench, 'scheduling')) bars.push(...(await measureScheduling(bench)))
  console.log(`\n${barsText(bars, !options.smoke)}`)
  return options.smoke || bars.every(({ isMet }) => isMet) ? 0 : 1
}
