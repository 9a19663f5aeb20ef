/** The tables that are printed. */
import { median } from '../middle.ts'
import { CONTESTANTS, type Contestant, type ContestantName } from './contestant.ts'
import type { Measurement } from './measure.ts'
import type { Row } from './rows.ts'
import { costs, judge } from './verdict.ts'

export interface Results {
  readonly rows: readonly Row[]
  readonly contestants: readonly Contestant[]
  readonly measured: readonly Measurement[]
  /** Absent contestants, with the rows and the reasons. */
  readonly absences: readonly string[]
  readonly machine: string
  readonly command: string
}

export interface Report {
  readonly text: string
  readonly allMet: boolean
}

const HEAD = [
  '| load | server | calls/s | MB/s | CPU per unit, median (range) | per CPU second | p50 / p99 | RSS | generator |',
  '|---|---|---:|---:|---:|---:|---:|---:|---:|',
]
const BARS_HEAD = ['| load | bar, in work per CPU second | measured | |', '|---|---|---:|---|']

export function reportOf(results: Results): Report {
  const { rows, contestants, measured, absences, command } = results
  const lines: string[] = [...HEAD]
  const bars: string[] = [...BARS_HEAD]
  let allMet = true
  for (const row of rows) {
    const of = (name: ContestantName) => measured.filter((m) => m.row === row.name && m.contestant === name)
    for (const name of CONTESTANTS) {
      if (of(name).length > 0) lines.push(`| ${[row.name, name, ...figures(row, of(name))].join(' | ')} |`)
    }
    const { overFloor, verdicts } = judge(row, of)
    if (!Number.isNaN(overFloor)) bars.push(`| ${row.name} | floor | ${overFloor.toFixed(2)} × its cost | |`)
    for (const { bar, figure, isMet } of verdicts) {
      bars.push(`| ${row.name} | ${bar} | ${figure} | ${isMet ? 'met' : '**missed**'} |`)
      if (!isMet) allMet = false
    }
  }
  const parts = [introduce(results), '', ...lines, '', ...(bars.length > 2 ? [...bars, ''] : []), ...about(contestants)]
  const notes = absences.map((absence) => `- not measured: ${absence}`)
  return { text: [...parts, ...notes, '', `Run with \`${command}\`.`].join('\n'), allMet }
}

function introduce({ measured, machine }: Results): string {
  const rounds = Math.max(0, ...measured.map((m) => m.round))
  return [
    `${machine}.`,
    `Rounds: ${rounds}, contestants in turn; all figures are medians. CPU is that of the server's processes, all threads.`,
    'Latency at the same offered load for all, on one connection; of the largest blobs, the time of one at a time.',
    "`generator`: the load generator's CPU time as a part of the server's. MB are of blobs as they are, uncompressed.",
  ].join(' ')
}

const about = (contestants: readonly Contestant[]): string[] => [
  '| server | an acknowledged blob is | a read checks | started as |',
  '|---|---|---|---|',
  ...contestants.map((c) => `| ${[c.name, c.durability, c.readCheck, `\`${c.command}\``].join(' | ')} |`),
  '',
]

function figures(row: Row, measured: readonly Measurement[]): string[] {
  const middle = (of: (m: Measurement) => number) => median(measured.map(of))
  const cost = costs(row, measured)
  const perCall = row.unit === 'calls'
  const [low, high] = [Math.min(...cost), Math.max(...cost)].map((value) => value.toFixed(perCall ? 1 : 2))
  const bytesPerSecond = middle((m) => m.contentBytes / m.wallMs / 1e3)
  const p50 = middle((m) => m.latency.p50Ms)
  const p99 = middle((m) => m.latency.p99Ms)
  return [
    significant(middle((m) => (m.calls / m.wallMs) * 1e3)),
    bytesPerSecond === 0 ? '' : significant(bytesPerSecond),
    `${median(cost).toFixed(perCall ? 1 : 2)} ${perCall ? 'µs/call' : 's/GB'} (${low}–${high})`,
    perCall ? `${significant(1e6 / median(cost))} calls` : `${(1 / median(cost)).toFixed(2)} GB`,
    row.perSecond === undefined ? `${p50.toFixed(0)} ms` : `${p50.toFixed(2)} / ${p99.toFixed(2)} ms`,
    `${Math.round(middle((m) => m.rssBytes) / 2 ** 20)} MiB`,
    middle((m) => m.generatorCpuUs / m.serverCpuUs).toFixed(2),
  ]
}

/** Rounds to a whole number from 100 on. */
const significant = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)
