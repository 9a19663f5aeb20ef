/** The table of one row: our medians, those of each peer, and their ratios. */
import { median } from '../middle.ts'
import type { PeerRow } from './rows.ts'
import { OURS, type RowResult, type Sample } from './sample.ts'

interface Middle {
  readonly cpuUs: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const HEAD = [
  '| at a time | peer | CPU ours | theirs | ours / theirs | p50 ours | theirs | ours / theirs | p99 ours | theirs | ours / theirs | load |',
  '|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
]

export function reportOf(row: PeerRow, { samples, absences }: RowResult): string {
  const lines = row.open.flatMap((open) => linesAt(samples.filter((sample) => sample.open === open)))
  return [
    `## ${row.name}: ${row.about}`,
    '',
    `CPU per ${row.unit}; medians.`,
    '',
    ...HEAD,
    ...lines,
    '',
    ...absences.map((absence) => `- not measured: ${absence}`),
  ].join('\n')
}

function linesAt(samples: readonly Sample[]): string[] {
  const names = [...new Set(samples.map(({ contestant }) => contestant))]
  const peers = names.filter((name) => name !== OURS)
  const ours = middleOf(samples, OURS)
  const load = median(samples.map((sample) => sample.load)).toFixed(1)
  return (peers.length > 0 ? peers : ['']).map((peer) => {
    const theirs = middleOf(samples, peer)
    const cells = [
      ...compared(ours.cpuUs / 1000, theirs.cpuUs / 1000),
      ...compared(ours.p50Ms, theirs.p50Ms),
      ...compared(ours.p99Ms, theirs.p99Ms),
    ]
    return `| ${[samples[0]?.open ?? '', peer, ...cells, load].join(' | ')} |`
  })
}

const compared = (ours: number, theirs: number): string[] => [ms(ours), ms(theirs), ratio(ours / theirs)]

function middleOf(samples: readonly Sample[], name: string): Middle {
  const own = samples.filter(({ contestant }) => contestant === name)
  return {
    cpuUs: median(own.map(({ cpuUs, units }) => cpuUs / units)),
    p50Ms: median(own.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(own.map(({ p99Ms }) => p99Ms)),
  }
}

const ms = (value: number): string =>
  Number.isNaN(value) ? '' : `${value.toFixed(value < 1 ? 3 : value < 100 ? 2 : 0)} ms`

const ratio = (value: number): string => (Number.isNaN(value) ? '' : value.toFixed(2))
