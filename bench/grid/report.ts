/** Formats the measured rows, and the bars that Windlass must meet. */
import { quantile } from '../middle.ts'
import type { LoadAnswer } from './generator/load.ts'

/** CPU time, in µs, of the server, and of the worker with all processes that it started. */
export interface CpuUs {
  readonly server: number
  readonly worker: number | undefined
}

export interface Measured {
  readonly load: string
  readonly who: string
  readonly answer: LoadAnswer
  readonly cpuUs: CpuUs
  /** The time of a start of the command without the grid; undefined for cache hits. */
  readonly bareMs?: number
}

export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly isMet: boolean
}

export const HEAD = [
  '| load | server | actions/s | p50 ms | p99 ms | added p50 | added p99 | server CPU µs | worker CPU µs |',
  '|---|---|---:|---:|---:|---:|---:|---:|---:|',
]

export function lineOf({ load, who, answer, cpuUs, bareMs = 0 }: Measured): string {
  const { count, ms, latencies } = answer
  const perAction = (us: number | undefined): string =>
    us === undefined ? '' : Math.round(us / count).toLocaleString('en')
  const [p50, p99] = [quantile(latencies, 0.5), quantile(latencies, 0.99)]
  const figures = [
    Math.round((count / ms) * 1000).toLocaleString('en'),
    ...[p50, p99, p50 - bareMs, p99 - bareMs].map(inMs),
    perAction(cpuUs.server),
    perAction(cpuUs.worker),
  ]
  return `| ${[load, who, ...figures].join(' | ')} |`
}

export const perSecond = ({ count, ms }: LoadAnswer): number => (count / ms) * 1000

export const atMost = (what: string, limitMs: number, measuredMs: number): Bar => ({
  what,
  limit: `≤ ${limitMs} ms`,
  measured: `${inMs(measuredMs)} ms`,
  isMet: measuredMs <= limitMs,
})

export const atLeast = (what: string, limit: number, { measured, unit }: { measured: number; unit: string }): Bar => ({
  what,
  limit: `≥ ${limit.toLocaleString('en')} ${unit}`,
  measured: `${Math.round(measured).toLocaleString('en')} ${unit}`,
  isMet: measured >= limit,
})

export function barsText(bars: readonly Bar[], isJudged: boolean): string {
  const verdict = (bar: Bar): string => (isJudged ? (bar.isMet ? 'met' : '**missed**') : 'not judged')
  const lines = bars.map((bar) => `| ${bar.what} | ${bar.limit} | ${bar.measured} | ${verdict(bar)} |`)
  return ['| bar | limit | measured | |', '|---|---:|---:|---|', ...lines].join('\n')
}

/** The stages of an action, on average, in the row with one action at a time. */
export function stagesText(stages: Readonly<Record<string, number>>): string {
  const lines = Object.entries(stages).map(([name, ms]) => `| ${name} | ${ms.toFixed(2)} |`)
  return ['| stage, one action at a time | ms on average |', '|---|---:|', ...lines].join('\n')
}

const inMs = (ms: number): string => ms.toFixed(2)
