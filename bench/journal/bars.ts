import type { Durability } from '../../src/storage/journal/fact.ts'
import type { GridFigures, GridLoad } from './grid-lives.ts'
import type { RecoveryFigures } from './recovery.ts'

/** Tasks per second that engine and journal must reach. */
export const RATES: Readonly<Record<Durability, number>> = { process: 30_000, power: 20_000 }
/** Tasks per second at a rate without queueing. */
export const MODERATE = 2000
/** The most that we may delay a task, without the sync of the disk. */
const MOST_ADDED_MS: Readonly<Record<Durability, number>> = { process: 2, power: 5 }
const MOST_LOOP_MS = 2
const MOST_RECOVERY_MS = 2000
/** Above this share of the highest rate, the delays are those of the queue. */
const SATURATED = 0.9

export interface Measured {
  readonly load: GridLoad
  readonly figures: GridFigures
}

export interface Bar {
  readonly what: string
  readonly limit: string
  readonly measured: string
  readonly met: boolean
}

/**
 * The delay of a task is judged at both fixed rates: the moderate one, and that of the bar. At the highest rate, the
 * delay is the number of open tasks divided by the rate, so it is only shown.
 */
export const barsOf = (rows: readonly Measured[], fsyncMs: number): Bar[] =>
  rows.flatMap(({ load: { durability, perSecond }, figures }) => {
    const pace = paceOf(rows, durability, perSecond)
    const loop = bar(`main-loop delay p99 ms, ${pace}`, `≤ ${MOST_LOOP_MS}`, [
      figures.loopP99,
      figures.loopP99 <= MOST_LOOP_MS,
    ])
    if (perSecond === undefined) {
      const most = RATES[durability]
      return [bar(`lives a second, ${pace}`, `≥ ${most}`, [figures.perSecond, figures.perSecond >= most]), loop]
    }
    const mostMs = MOST_ADDED_MS[durability] + (durability === 'power' ? fsyncMs : 0)
    const added = (what: string, value: number): Bar =>
      bar(`${what} p99 ms, ${pace}`, `≤ ${mostMs.toFixed(1)}`, [value, value <= mostMs])
    return [added('acknowledged', figures.acknowledgedP99), added('told', figures.toldP99), loop]
  })

/** The pace as text, with its share of the highest rate of this run. */
function paceOf(rows: readonly Measured[], durability: Durability, perSecond: number | undefined): string {
  if (perSecond === undefined) return `${durability}, at saturation`
  const most = rows.find(({ load }) => load.durability === durability && load.perSecond === undefined)
  const share = perSecond / (most?.figures.perSecond ?? Number.POSITIVE_INFINITY)
  const where = share < SATURATED ? `${Math.round(share * 100)} % of saturation` : 'at or beyond saturation in this run'
  return `${durability}, ${perSecond}/s (${where})`
}

export const recoveryBar = ({ tasks, ms }: RecoveryFigures): Bar =>
  bar(`start with ${tasks} open tasks, ms`, `≤ ${MOST_RECOVERY_MS}`, [ms, ms <= MOST_RECOVERY_MS])

const bar = (what: string, limit: string, [value, met]: readonly [number, boolean]): Bar => ({
  what,
  limit,
  measured: value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(2),
  met,
})
