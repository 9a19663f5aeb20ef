import type { Durability } from '../../src/storage/journal/fact.ts'
import type { GridFigures, GridLoad } from './grid-lives.ts'

/** Lives a second that engine and journal are to reach. */
export const RATES: Readonly<Record<Durability, number>> = { process: 30_000, power: 20_000 }
/** A rate at which nothing waits for anything but its own turn. */
export const MODERATE = 2000
/** What a life may be held up by us, beyond one sync of the disk where that is asked for. */
const MOST_ADDED_MS: Readonly<Record<Durability, number>> = { process: 2, power: 5 }
const MOST_LOOP_MS = 2

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

export const barsOf = (rows: readonly Measured[], fsyncMs: number): Bar[] =>
  rows.flatMap(({ load: { durability, perSecond }, figures }) => {
    if (perSecond === undefined) {
      const most = RATES[durability]
      return [bar(`lives a second, ${durability}`, `≥ ${most}`, [figures.perSecond, figures.perSecond >= most])]
    }
    const begun = `${durability}, ${perSecond}/s`
    const loop = bar(`main-loop delay p99 ms, ${begun}`, `≤ ${MOST_LOOP_MS}`, [
      figures.loopP99,
      figures.loopP99 <= MOST_LOOP_MS,
    ])
    if (perSecond !== MODERATE) return [loop]
    const mostMs = MOST_ADDED_MS[durability] + (durability === 'power' ? fsyncMs : 0)
    const added = (what: string, value: number): Bar =>
      bar(`${what} p99 ms, ${begun}`, `≤ ${mostMs.toFixed(1)}`, [value, value <= mostMs])
    return [added('acknowledged', figures.acknowledgedP99), added('told', figures.toldP99), loop]
  })

const bar = (what: string, limit: string, [value, met]: readonly [number, boolean]): Bar => ({
  what,
  limit,
  measured: value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(2),
  met,
})
