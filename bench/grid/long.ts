/** Checks that the memory of the server does not grow over 100,000 tasks. */
import { usageOf } from '../cache/process-usage.ts'
import type { LoadQuestion } from './generator/load.ts'
import { type Bench, load, prepare } from './measuring.ts'
import { type Bar, barsText } from './report.ts'

const TASKS = 100_000
const ROUNDS = 10
/** Rounds after which the heap has reached its size. */
const SETTLED_ROUNDS = 3
/**
 * New actions are new blobs, and the index of blobs is in memory: about 200 bytes per task are not counted as growth.
 */
const MOST_GROWTH = 1.1

export async function checkLong(bench: Bench): Promise<number> {
  const { options, generator, server } = bench
  const each = options.smoke ? 200 : TASKS / ROUNDS
  const sizes: number[] = []
  await prepare(bench, 1)
  await generator.ask<void>({ ask: 'hire' } satisfies LoadQuestion)
  console.log('| tasks | tasks/s | server RSS MiB |\n|---:|---:|---:|')
  for (let round = 1; round <= ROUNDS; round++) {
    await prepare(bench, each)
    const { ms } = await load(bench, { ask: 'run', count: each, mostMs: 600_000, open: 100 })
    const rss = usageOf(server.server.pid).rssBytes
    sizes.push(rss)
    console.log(`| ${round * each} | ${Math.round((each / ms) * 1000)} | ${Math.round(rss / 2 ** 20)} |`)
  }
  await generator.ask<void>({ ask: 'dismiss' } satisfies LoadQuestion)
  const growth = (sizes.at(-1) ?? 0) / (sizes[SETTLED_ROUNDS - 1] ?? 1)
  const bar: Bar = {
    what: `RSS after ${ROUNDS * each} tasks, in parts of that after ${SETTLED_ROUNDS * each}`,
    limit: `≤ ${MOST_GROWTH}`,
    measured: growth.toFixed(2),
    isMet: growth <= MOST_GROWTH,
  }
  console.log(`\n${barsText([bar], !options.smoke)}`)
  return options.smoke || bar.isMet ? 0 : 1
}
