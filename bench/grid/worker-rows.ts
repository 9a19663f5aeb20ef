/** Measures actions that a real worker runs, and actions that the action cache answers. */
import { randomUUID } from 'node:crypto'
import { usageOf } from '../cache/process-usage.ts'
import { quantile } from '../middle.ts'
import { type Bare, measureBare } from './bare.ts'
import type { LoadAnswer, LoadQuestion } from './generator/load.ts'
import { type Bench, load, observed, prepare, wants } from './measuring.ts'
import { startCasd } from './peers/casd.ts'
import { startWorker, type Worker } from './peers/windlass.ts'
import { atLeast, atMost, type Bar, HEAD, lineOf, perSecond, stagesText } from './report.ts'

const CONCURRENCIES = [1, 8, 100] as const
/** An upper bound of the rate: this many actions are prepared for each second of a row. */
const MOST_PER_SECOND = 2500
const WARM_UP = { run: 300, hit: 2000 }
const LEAST_PART_OF_BARE = 0.6
const LEAST_HITS = 5000
/** By backend, for 8 concurrent actions: server, worker, spawner and command together. */
const MOST_CPU_MS: Readonly<Record<string, number>> = { host: 3.8, sandbox: 7 }

export async function measureWorker(bench: Bench): Promise<Bar[]> {
  const { options, folder } = bench
  const bars: Bar[] = []
  let bare: Bare
  let slots: number
  const lines = [...HEAD]
  {
    await using worker = await startWorker(folder, { ...options, port: bench.server.port })
    slots = worker.slots
    bare = await measureBare({ folder, slots, seconds: options.seconds })
    console.log(
      `/bin/true by the spawner alone: p50 ${bare.p50.toFixed(2)} ms, p99 ${bare.p99.toFixed(2)} ms; ${Math.round(bare.perSecond)}/s with ${slots} at a time.\n`,
    )
    if (wants(bench, 'run')) bars.push(...(await measureRuns(bench, worker, { bare, lines })))
    if (wants(bench, 'hit')) bars.push(...(await measureHits(bench, worker, lines)))
  }
  if (wants(bench, 'run')) await measureCasd(bench, { slots, bareMs: bare.p50, lines })
  console.log(lines.join('\n'))
  return bars
}

interface Rows {
  readonly bare: Bare
  readonly lines: string[]
}

async function measureRuns(bench: Bench, worker: Worker, { bare, lines }: Rows): Promise<Bar[]> {
  const mostMs = bench.options.seconds * 1000
  const bars: Bar[] = []
  let fastest = 0
  await prepare(bench, WARM_UP.run)
  await load(bench, { ask: 'run', count: WARM_UP.run, mostMs: 60_000, open: 8 })
  for (const open of CONCURRENCIES) {
    await prepare(bench, bench.options.seconds * MOST_PER_SECOND)
    const { answer, cpuUs } = await observed(bench, worker, { ask: 'run', count: 1e9, mostMs, open })
    lines.push(lineOf({ load: `run, ${open} at a time`, who: 'windlass', answer, cpuUs, bareMs: bare.p50 }))
    fastest = Math.max(fastest, perSecond(answer))
    const most = MOST_CPU_MS[bench.options.backend]
    const cpuMs = (cpuUs.server + cpuUs.worker) / answer.count / 1000
    if (open === 8 && most !== undefined) bars.push(atMost('CPU of one action, all processes', most, cpuMs))
    if (open !== 1) continue
    const added = (part: number): number => quantile(answer.latencies, part) - bare.p50
    bars.push(atMost('added to the bare start, one at a time, p50', 3, added(0.5)))
    bars.push(atMost('added to the bare start, one at a time, p99', 15, added(0.99)))
    console.log(`${stagesText(answer.stages)}\n`)
  }
  const part = { measured: (fastest / bare.perSecond) * 100, unit: '%' }
  bars.push(atLeast('actions/s, in parts of bare starts/s', LEAST_PART_OF_BARE * 100, part))
  return bars
}

async function measureHits(bench: Bench, worker: Worker, lines: string[]): Promise<Bar[]> {
  const mostMs = bench.options.seconds * 1000
  let fastest = 0
  await prepare(bench, 1)
  await load(bench, { ask: 'hit', count: WARM_UP.hit, mostMs, open: 8 })
  for (const open of CONCURRENCIES) {
    const { answer, cpuUs } = await observed(bench, worker, { ask: 'hit', count: 1e9, mostMs, open })
    lines.push(lineOf({ load: `cache hit, ${open} at a time`, who: 'windlass', answer, cpuUs }))
    fastest = Math.max(fastest, perSecond(answer))
  }
  return [atLeast('cache hits', LEAST_HITS, { measured: fastest, unit: '/s' })]
}

interface Peer {
  readonly slots: number
  readonly bareMs: number
  readonly lines: string[]
}

/** Puts the same load on buildbox-casd, for comparison. */
async function measureCasd({ generator, folder, options }: Bench, { slots, bareMs, lines }: Peer): Promise<void> {
  const casd = await startCasd(folder, slots)
  if ('absent' in casd) return void lines.push(`| | buildbox-casd: ${casd.absent} | | | | | | | |`)
  await using server = casd.server
  for (const open of [1, 8]) {
    const ask = { ask: 'prepare', port: casd.port, count: options.seconds * 100, word: randomUUID() } as const
    await generator.ask<void>(ask satisfies LoadQuestion)
    const before = usageOf(server.pid)
    const question: LoadQuestion = { ask: 'run', count: 1e9, mostMs: options.seconds * 1000, open }
    const answer = await generator.ask<LoadAnswer>(question)
    const cpuUs = { server: usageOf(server.pid).cpuUs - before.cpuUs, worker: undefined }
    lines.push(lineOf({ load: `run, ${open} at a time`, who: 'buildbox-casd', answer, cpuUs, bareMs }))
  }
}
