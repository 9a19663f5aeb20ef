import type { Timing } from './bench.ts'

/** The limit of the time that the spawner adds to a start from a small process. */
const MOST_ADDED_MS = 0.5

export interface Figures {
  readonly machine: string
  readonly rounds: number
  readonly small: readonly Timing[]
  readonly idle: readonly Timing[]
  readonly fat: readonly Timing[]
  readonly ballastBytes: number
}

/** Judges the fastest tenth: other processes of the machine slow down the rest. */
export function rowsOf({ machine, rounds, small, idle, fat, ballastBytes }: Figures): { text: string; met: boolean } {
  const [base] = small
  const added =
    (small.find(({ name }) => name === 'spawner, control groups')?.p10 ?? Number.NaN) - (base?.p10 ?? Number.NaN)
  const met = added <= MOST_ADDED_MS
  const rows = (timings: readonly Timing[]): string[] =>
    timings.map(({ name, p10, p50, p90 }) => `  ${name.padEnd(36)} ${[p10, p50, p90].map(cell).join('')}`)
  const text = [
    `start and end of /bin/true, ms, ${rounds} rounds; ${machine}`,
    `  ${''.padEnd(36)} ${['p10', 'p50', 'p90'].map((each) => each.padStart(9)).join('')}`,
    ...rows([...small, ...idle]),
    `with ${Math.round(ballastBytes / 2 ** 20)} MiB more in this process`,
    ...rows(fat),
    `the spawner adds ${added.toFixed(2)} ms (p10); at most ${MOST_ADDED_MS}: ${met ? 'met' : 'MISSED'}`,
  ].join('\n')
  return { text, met }
}

const cell = (ms: number): string => ms.toFixed(2).padStart(9)
