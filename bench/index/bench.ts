/**
 * Measures the time, memory and pauses of the blob index, up to 20 million blobs, and how fast its journal is loaded.
 */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { type Growth, grow } from './growth.ts'
import { type Reload, reload } from './reload.ts'
import { barsOf, reportOf } from './report.ts'

const DEFAULT_MILLIONS = 20
const MOST_MILLIONS = 100
const PAUSE_TRIES = 3

export async function run(args: readonly string[]): Promise<number> {
  const { smoke, blobs } = parseOptions(args)
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`
  const stops = smoke
    ? [blobs]
    : [1e6, 10e6, 20e6, blobs].filter((stop, i, all) => stop <= blobs && all.indexOf(stop) === i)
  grow([1e5]) // warms up the JIT compiler: the first thousand inserts of any process take milliseconds
  const growths: Growth[] = [grow(stops)]
  const reloads: Reload[] = [1, 2, 3].map(() => reload(Math.min(blobs, 1e6)))
  // A real pause repeats; the median of three decides.
  const slow = () => growths.filter(({ longestPauseMs }) => longestPauseMs > 5).length
  while (!smoke && slow() > 0 && growths.length < PAUSE_TRIES) growths.push(grow(stops))
  const bars = barsOf(growths, reloads)
  console.log(reportOf({ machine, growths, reloads, bars, smoke }))
  return smoke || bars.every(({ met }) => met !== false) ? 0 : 1
}

function parseOptions(args: readonly string[]): { smoke: boolean; blobs: number } {
  const { values } = parseArgs({
    args: [...args],
    options: { smoke: { type: 'boolean', default: false }, million: { type: 'string' } },
  })
  const millions = Number(values.million ?? (values.smoke ? 0.1 : DEFAULT_MILLIONS))
  if (!(millions >= 0.1 && millions <= MOST_MILLIONS))
    throw new Error(`--million is a number from 0.1 to ${MOST_MILLIONS}`)
  return { smoke: values.smoke, blobs: Math.round(millions * 1e6) }
}
