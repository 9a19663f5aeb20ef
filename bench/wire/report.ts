/** The printed table, with verdicts that depend only on the measured medians. */
import { median } from '../middle.ts'
import { CONTESTANTS, type ContestantName } from './contestants.ts'
import type { Measurement } from './measure.ts'
import type { Row } from './rows.ts'

export interface Results {
  readonly rows: readonly Row[]
  readonly measured: readonly Measurement[]
  readonly machine: string
  /** Too few calls to check the bars. */
  readonly smoke: boolean
}

export interface Report {
  readonly text: string
  readonly allMet: boolean
}

interface Verdict {
  readonly ratio: string
  readonly bar: string
  readonly word: 'met' | 'missed' | 'not judged' | ''
}

const HEAD = [
  '| load | server | CPU per unit, median (range) | units per CPU second | throughput | p50 / p99 | RSS | Windlass takes | bar | |',
  '|---|---|---:|---:|---:|---:|---:|---:|---:|---|',
]

const UNJUDGED: Verdict = { ratio: '', bar: '', word: '' }

export function reportOf(results: Results): Report {
  const { rows, measured, smoke } = results
  const lines = [...HEAD]
  let allMet = true
  for (const row of rows) {
    const of = (name: ContestantName) => measured.filter((m) => m.row === row.name && m.contestant === name)
    const ours = median(costs(row, of('windlass')))
    for (const name of CONTESTANTS) {
      const times = median(costs(row, of(name))) / ours
      const verdict = name === 'windlass' ? UNJUDGED : judge(row.bars[name], times, smoke)
      if (verdict.word === 'missed') allMet = false
      lines.push(`| ${[row.name, name, ...figures(row, of(name)), ...Object.values(verdict)].join(' | ')} |`)
    }
  }
  const commands = rows.map((row) => `- ${row.name}: \`${row.command}\`, N = ${callsOf(row, measured)}`)
  return { text: [introduce(results), '', ...lines, '', ...commands].join('\n'), allMet }
}

function introduce({ rows, measured, machine }: Results): string {
  const rounds = Math.max(...measured.map((m) => m.round))
  const paces = [...new Set(rows.map((row) => row.paced))].join(' or ')
  return [
    `${machine}.`,
    `Rounds: ${rounds}, contestants in turn; all figures are medians.`,
    `Latency at the same offered load for all: ${paces}, on one connection.`,
  ].join(' ')
}

/** `times` is the CPU time of the other contestant divided by ours. */
function judge(bar: number | undefined, times: number, smoke: boolean): Verdict {
  const ratio = times < 1 ? `${(1 / times).toFixed(1)} × as much` : `1/${times.toFixed(1)} of it`
  if (bar === undefined) return { ratio, bar: '', word: '' }
  return { ratio, bar: `≤ 1/${bar}`, word: smoke ? 'not judged' : times >= bar ? 'met' : 'missed' }
}

/** Microseconds per call, or seconds per GB. */
function costs({ unit }: Row, measured: readonly Measurement[]): number[] {
  return measured.map((m) => (unit === 'call' ? m.serverCpuUs / m.calls : (m.serverCpuUs * 1e3) / m.dataBytes))
}

function figures(row: Row, measured: readonly Measurement[]): string[] {
  const cost = costs(row, measured)
  const middle = (of: (m: Measurement) => number) => median(measured.map(of))
  const perCall = row.unit === 'call'
  const rate = perCall ? middle((m) => (m.calls / m.wallMs) * 1e3) : middle((m) => m.dataBytes / m.wallMs / 1e6)
  const digits = perCall ? 1 : 2
  const [low, high] = [Math.min(...cost), Math.max(...cost)].map((value) => value.toFixed(digits))
  return [
    `${median(cost).toFixed(digits)} ${perCall ? 'µs/call' : 's/GB'} (${low}–${high})`,
    perCall ? whole(1e6 / median(cost)) : `${(1 / median(cost)).toFixed(2)} GB`,
    perCall ? `${whole(rate)} calls/s` : `${rate.toFixed(2)} GB/s`,
    `${middle((m) => m.p50Ms).toFixed(2)} / ${middle((m) => m.p99Ms).toFixed(2)} ms`,
    `${whole(middle((m) => m.rssBytes) / 2 ** 20)} MiB`,
  ]
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')

function callsOf(row: Row, measured: readonly Measurement[]): string {
  const first = measured.filter((m) => m.row === row.name && m.round === 1)
  const inOrder = CONTESTANTS.flatMap((name) => first.filter((m) => m.contestant === name))
  return inOrder.map(({ calls, contestant }) => `${calls} (${contestant})`).join(', ')
}
