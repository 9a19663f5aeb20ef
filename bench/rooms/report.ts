/** The limit of CPU time that a room adds to a plain start, and the least number of rooms per second on one processor. */
const MOST_ADDED_CPU_MS = 5
const LEAST_RUNS = 150
/** The factor by which runs of a large worker may be slower than those of a small one: measurements vary. */
const FAT_PART = 1.2

export interface RoomRow {
  readonly name: string
  readonly wallMs: number
  readonly cpuMs: number | undefined
  readonly perSecond: number
}

export interface RoomFigures {
  readonly machine: string
  readonly rows: readonly RoomRow[]
  readonly slim: RoomRow
  readonly fat: RoomRow
  readonly fatBytes: number
}

export function reportOf({ machine, rows, slim, fat, fatBytes }: RoomFigures): { text: string; met: boolean } {
  const named = (name: string): RoomRow | undefined => rows.find((row) => row.name === name)
  const [plain, sandbox] = [named('plain'), named('sandbox')]
  const added = (sandbox?.cpuMs ?? Number.NaN) - (plain?.cpuMs ?? Number.NaN)
  const bars = [
    bar(
      `the sandbox adds ${added.toFixed(2)} ms of processor time, at most ${MOST_ADDED_CPU_MS}`,
      added <= MOST_ADDED_CPU_MS,
    ),
    bar(
      `${sandbox?.perSecond.toFixed(0)} sandboxes a second on one processor, at least ${LEAST_RUNS}`,
      (sandbox?.perSecond ?? 0) >= LEAST_RUNS,
    ),
    bar(
      `with ${(fatBytes / 2 ** 30).toFixed(0)} GiB in the worker ${fat.wallMs.toFixed(2)} ms, without ${slim.wallMs.toFixed(2)}`,
      fat.wallMs <= slim.wallMs * FAT_PART,
    ),
  ]
  const text = [
    `/bin/true in rooms of each kind, on one processor; ${machine}`,
    `  ${'room'.padEnd(10)}${['ms', 'cpu ms', 'runs/s'].map((each) => each.padStart(9)).join('')}`,
    ...rows.map(
      ({ name, wallMs, cpuMs, perSecond }) =>
        `  ${name.padEnd(10)}${[wallMs.toFixed(2), cpuMs?.toFixed(2) ?? '-', perSecond.toFixed(0)].map((each) => each.padStart(9)).join('')}`,
    ),
    ...bars.map(({ words }) => words),
  ].join('\n')
  return { text, met: bars.every(({ met }) => met) }
}

const bar = (words: string, met: boolean) => ({ words: `${words}: ${met ? 'met' : 'MISSED'}`, met })
