/** Compares the medians with the bars. */
import { median } from '../middle.ts'
import type { ContestantName } from './contestant.ts'
import type { Measurement } from './measure.ts'
import type { Row } from './rows.ts'

/** A bar against another contestant is also met when Windlass costs at most this many times its floor. */
const CLOSE_TO_FLOOR = 1.3

/** The server CPU time of each measurement: microseconds per call, or seconds per GB, by the unit of the row. */
export const costs = ({ unit }: Row, measured: readonly Measurement[]): number[] =>
  measured.map((m) => (unit === 'calls' ? m.serverCpuUs / m.calls : (m.serverCpuUs * 1e3) / m.contentBytes))

export interface Verdict {
  readonly bar: string
  readonly figure: string
  readonly isMet: boolean
}

export interface Judged {
  /** The cost of Windlass divided by its floor; NaN when one of them was not measured. */
  readonly overFloor: number
  readonly verdicts: readonly Verdict[]
}

export function judge(row: Row, of: (name: ContestantName) => readonly Measurement[]): Judged {
  const cost = (name: ContestantName): number => median(costs(row, of(name)))
  const ours = cost('windlass')
  const overFloor = ours / cost('floor')
  const isClose = overFloor <= CLOSE_TO_FLOOR
  const verdicts: Verdict[] = []
  for (const [name, bar] of Object.entries(row.bars) as [ContestantName, number][]) {
    const times = cost(name) / ours
    if (Number.isNaN(times)) continue
    verdicts.push({
      bar: `≥ ${bar} × ${name}`,
      figure: `${times.toFixed(2)} ×${times < bar && isClose ? ', close to the floor' : ''}`,
      isMet: times >= bar || isClose,
    })
  }
  if (row.digestsPerSecond !== undefined && row.plan.kind === 'find-missing' && !Number.isNaN(ours)) {
    const perSecond = (row.plan.digests * 1e6) / ours
    verdicts.push({
      bar: `≥ ${row.digestsPerSecond / 1e6} million digests per CPU second`,
      figure: `${(perSecond / 1e6).toFixed(2)} million`,
      isMet: perSecond >= row.digestsPerSecond,
    })
  }
  return { overFloor, verdicts }
}
