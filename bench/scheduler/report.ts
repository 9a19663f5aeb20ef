import type { Size } from './scenario.ts'

export interface Corner extends Size {
  /** Bytes per queued task, before any worker is there. */
  readonly bytes: number
  readonly medianUs: number
  readonly meanUs: number
  /** The time per event of the other half: an arrival if tasks are queued, an end if slots are free. */
  readonly otherUs: number
  /** The hash of all effects: two runs with the same hash made the same decisions. */
  readonly digest: string
  /** The number of queued tasks during the measurement. */
  readonly queued: number
}

export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly met: boolean | undefined
}

const MOST = { ratio: 4, bytes: 1024 }
const FEWEST_A_SECOND = 100_000
/** With fewer tasks, the objects per signature, instance and invocation count too much. */
const BYTES_JUDGED_FROM = 1_000_000

export function barsOf(corners: readonly Corner[]): Bar[] {
  const first = corners[0]
  const last = corners.at(-1)
  if (first === undefined || last === undefined) return []
  const slowest = corners.reduce((one, other) => (other.meanUs > one.meanUs ? other : one))
  const many = corners.filter(({ tasks }) => tasks >= BYTES_JUDGED_FROM)
  const bytes = Math.max(...many.map((one) => one.bytes))
  const ratio = last.medianUs / first.medianUs
  const aSecond = 1e6 / slowest.meanUs
  return [
    {
      what: 'the largest corner over the smallest, medians',
      limit: `≤ ${MOST.ratio}`,
      measured: ratio.toFixed(2),
      met: ratio <= MOST.ratio,
    },
    {
      what: 'decisions a second on one core, in the slowest corner',
      limit: `≥ ${whole(FEWEST_A_SECOND)}`,
      measured: whole(aSecond),
      met: aSecond >= FEWEST_A_SECOND,
    },
    {
      what: `bytes a queued task, with ${whole(BYTES_JUDGED_FROM)} or more of them`,
      limit: `≤ ${whole(MOST.bytes)}`,
      measured: many.length === 0 ? '–' : whole(bytes),
      met: many.length === 0 ? undefined : bytes <= MOST.bytes,
    },
  ]
}

interface Results {
  readonly machine: string
  readonly corners: readonly Corner[]
  readonly bars: readonly Bar[]
  readonly smoke: boolean
}

export function reportOf({ machine, corners, bars, smoke }: Results): string {
  const word = (met: boolean | undefined) => (smoke || met === undefined ? 'not judged' : met ? 'met' : 'missed')
  return [
    `${machine}. One thread, collector included; µs a decision: the median by the clock, the mean of its processor time.`,
    '',
    '| tasks | workers | signatures | instances | waiting | median µs | mean µs | other event µs | bytes a task | effects |',
    '|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|',
    ...corners.map(
      (one) =>
        `| ${[one.tasks, one.workers, one.signatures, one.instances, one.queued].map(whole).join(' | ')} ` +
        `| ${one.medianUs.toFixed(2)} | ${one.meanUs.toFixed(2)} | ${one.otherUs.toFixed(2)} | ${whole(one.bytes)} | ${one.digest} |`,
    ),
    '',
    '| bar | limit | measured | |',
    '|---|---:|---:|---|',
    ...bars.map(({ what, limit, measured, met }) => `| ${what} | ${limit} | ${measured} | ${word(met)} |`),
  ].join('\n')
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
