import { median } from '../middle.ts'
import { GROUP, type Growth, REQUEST, type Stop } from './growth.ts'
import type { Reload } from './reload.ts'

export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  /** Undefined when the bar does not apply to so few blobs. */
  readonly met: boolean | undefined
}

export interface Results {
  readonly machine: string
  readonly growths: readonly Growth[]
  readonly reloads: readonly Reload[]
  readonly bars: readonly Bar[]
  /** Too few blobs to check the bars. */
  readonly smoke: boolean
}

/** With fewer blobs, partly filled segments count too much. */
const BYTES_JUDGED_FROM = 10e6
const MOST = { bytes: 64, pauseMs: 5, loadMs: 1000, missingHotNs: 200 }

const COLUMNS: readonly (readonly [string, keyof Stop])[] = [
  ['insert', 'insert'],
  ['remove', 'remove'],
  ['find, held', 'findHeld'],
  ['find, absent', 'findAbsent'],
  ['missing, held', 'missingHeld'],
  ['missing, absent', 'missingAbsent'],
  ['missing, the same again', 'missingHot'],
]

export function barsOf(growths: readonly Growth[], reloads: readonly Reload[]): Bar[] {
  const worstBytes = Math.max(...growths.map((growth) => growth.worstBytes))
  const pauses = growths.map(({ longestPauseMs }) => longestPauseMs)
  const loadMs = median(reloads.map((one) => one.loadMs))
  const hotNs = Math.max(...growths.flatMap(({ stops }) => stops.map(({ missingHot }) => missingHot)))
  const blobs = Math.max(...growths.flatMap(({ stops }) => stops.map((stop) => stop.blobs)))
  const bytes = judge('bytes a blob, worst over the last half of the growth', [worstBytes, MOST.bytes], 'bytes')
  const tries = pauses.length === 1 ? 'one try' : `median of ${pauses.length} tries`
  return [
    blobs < BYTES_JUDGED_FROM ? { ...bytes, met: undefined } : bytes,
    judge(`longest ${GROUP} inserts in a row (${tries})`, [median(pauses), MOST.pauseMs], 'ms'),
    judge(`loading ${whole(reloads[0]?.blobs ?? 0)} blobs from the journal`, [loadMs, MOST.loadMs], 'ms'),
    judge(`missing, a digest of ${REQUEST} that are near, at any size`, [hotNs, MOST.missingHotNs], 'ns'),
  ]
}

function judge(what: string, [measured, limit]: readonly [number, number], unit: string): Bar {
  return { what, limit: `≤ ${limit} ${unit}`, measured: `${measured.toFixed(2)} ${unit}`, met: measured <= limit }
}

export function reportOf({ machine, growths, reloads, bars, smoke }: Results): string {
  const stops = growths[0]?.stops ?? []
  const word = (met: boolean | undefined) => (smoke || met === undefined ? 'not judged' : met ? 'met' : 'missed')
  return [
    `${machine}. One thread; ns an operation, medians of calls with ${REQUEST}.`,
    '',
    `| blobs | ${COLUMNS.map(([head]) => head).join(' | ')} | bytes a blob |`,
    `|---:|${COLUMNS.map(() => '---:|').join('')}---:|`,
    ...stops.map(
      (stop) =>
        `| ${whole(stop.blobs)} | ${COLUMNS.map(([, name]) => whole(stop[name])).join(' | ')} | ${stop.bytes.toFixed(2)} |`,
    ),
    '',
    '| bar | limit | measured | |',
    '|---|---:|---:|---|',
    ...bars.map(({ what, limit, measured, met }) => `| ${what} | ${limit} | ${measured} | ${word(met)} |`),
    '',
    `${((growths[0]?.disturbed ?? 0) * 100).toFixed(1)} % of the groups of ${GROUP} inserts were disturbed by other processes, and not counted.`,
    `Bytes a blob over the last half of the growth: ${growths[0]?.averageBytes.toFixed(2)} on average.`,
    `Journal, in CPU time: written in ${whole(median(reloads.map((one) => one.writeMs)))} ms; loaded by an index that was not told how ` +
      `many blobs to expect in ${whole(median(reloads.map((one) => one.surprisedMs)))} ms.`,
  ].join('\n')
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
