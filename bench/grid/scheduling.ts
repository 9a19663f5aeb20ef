/** Measures how long a task waits for a free worker: alone, and while other clients load the server. */
import { startChild } from '../child.ts'
import { quantile } from '../middle.ts'
import type { BulkAnswer, BulkQuestion } from './generator/bulk.ts'
import type { LoadAnswer, LoadQuestion } from './generator/load.ts'
import { type Bench, load, prepare } from './measuring.ts'
import { atMost, type Bar, perSecond } from './report.ts'

const SCHEDULED_PER_SECOND = 500
const BULK_BYTES = 256 * 2 ** 20

/** From the call until a worker has the task. The bars are for the server, so the worker does no work. */
export async function measureScheduling(bench: Bench): Promise<Bar[]> {
  const { options, generator, server } = bench
  const count = Math.ceil(SCHEDULED_PER_SECOND * options.seconds)
  const pace = { count, mostMs: options.seconds * 2000, open: 0, perSecond: SCHEDULED_PER_SECOND }
  await prepare(bench, count)
  await generator.ask<void>({ ask: 'hire' } satisfies LoadQuestion)
  await load(bench, { ask: 'run', ...pace }) // warms up the JIT
  await prepare(bench, count)
  const alone = await load(bench, { ask: 'run', ...pace })
  await using others = startChild(new URL('./generator/bulk.ts', import.meta.url))
  const bytes = options.smoke ? BULK_BYTES / 64 : BULK_BYTES
  await others.ask<void>({ ask: 'prepare', port: server.port, bytes } satisfies BulkQuestion)
  await prepare(bench, count)
  await others.ask<void>({ ask: 'begin' } satisfies BulkQuestion)
  const start = performance.now()
  const among = await load(bench, { ask: 'run', ...pace })
  const moved = await others.ask<BulkAnswer>({ ask: 'end' } satisfies BulkQuestion)
  const seconds = (performance.now() - start) / 1000
  await generator.ask<void>({ ask: 'dismiss' } satisfies LoadQuestion)
  console.log(`\n${schedulingText({ alone, among, moved, seconds })}`)
  const what = `scheduling delay at ${SCHEDULED_PER_SECOND} tasks/s, p99`
  return [
    atMost(what, 5, quantile(alone.delays, 0.99)),
    atMost(`${what}, while others stream blobs and page`, 20, quantile(among.delays, 0.99)),
  ]
}

interface Scheduling {
  readonly alone: LoadAnswer
  readonly among: LoadAnswer
  readonly moved: BulkAnswer
  readonly seconds: number
}

function schedulingText({ alone, among, moved, seconds }: Scheduling): string {
  const line = (name: string, { delays, latencies, ...answer }: LoadAnswer): string => {
    const times = [quantile(delays, 0.5), quantile(delays, 0.99), Math.max(...delays), quantile(latencies, 0.99)]
    return `| ${[name, Math.round(perSecond({ ...answer, delays, latencies })), ...times.map((ms) => ms.toFixed(2))].join(' | ')} |`
  }
  const [up, down] = [moved.upBytes, moved.downBytes].map((bytes) => Math.round(bytes / seconds / 1e6))
  return [
    '| call → the worker has it | tasks/s | p50 ms | p99 ms | longest | to the end, p99 |',
    '|---|---:|---:|---:|---:|---:|',
    line('alone', alone),
    line(`with ${up} MB/s up, ${down} MB/s down, ${Math.round(moved.pages / seconds)} pages/s`, among),
  ].join('\n')
}
