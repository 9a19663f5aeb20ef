/**
 * What the journal alone costs for whole lives of tasks (accepted, leased, finished, each awaited before the next): how
 * many a second there can be, and at the rates that the grid is to reach, how long a fact takes and what the main
 * thread has left. Beside it, what the same disk takes for a bare sync.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Durability } from '../../src/storage/journal/fact.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { sqliteJournal } from '../../src/storage/journal/sqlite/sqlite-journal.ts'
import { quantile } from '../middle.ts'
import { type Figures, type Load, live } from './lives.ts'

/** What the engine and the journal are to reach together. */
const RATES: Readonly<Record<Durability, number>> = { process: 30_000, power: 20_000 }
const OPEN = 4000

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: 'boolean', default: false },
      lives: { type: 'string' },
      bytes: { type: 'string', default: '500' },
      random: { type: 'boolean', default: false },
      folder: { type: 'string', default: tmpdir() },
    },
  })
  const lives = Number(values.lives ?? (values.smoke ? 2000 : 300_000))
  const folder = mkdtempSync(join(values.folder, 'windlass-bench-journal-'))
  try {
    const fsync = bareSync(folder)
    console.log(
      `${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}. ${lives} lives a row, ` +
        `${values.bytes} bytes of spec and of result. A bare sync of 64 KiB: p50 ${ms(fsync.p50)}, p99 ${ms(fsync.p99)} ms.\n`,
    )
    const journal = await sqliteJournal({ folder: join(folder, 'journal'), owner: 'bench', pid: process.pid })
    const { epoch } = await journal.recover()
    const shape = { open: OPEN, bytes: Number(values.bytes), names: values.random ? 'random' : 'growing' } as const
    await live(journal, epoch, { ...shape, durability: 'process', lives: Math.min(lives, 20_000) }) // for the compiler
    const without = await live(NO_JOURNAL, epoch, { ...shape, durability: 'process', lives })
    const rows = await measure(journal, epoch, { ...shape, lives })
    console.log(`\nOf the main thread's time, ${without.mainMicros.toFixed(2)} µs a life are the load itself.`)
    await journal.close()
    return values.smoke || rows.every((row) => isMet(row, fsync.p99)) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What the load costs without what it measures. */
const NO_JOURNAL: Pick<Journal, 'record'> = { record: async () => [] }

interface Row {
  readonly load: Load
  readonly figures: Figures
}

async function measure(journal: Journal, epoch: number, shape: Omit<Load, 'durability'>): Promise<Row[]> {
  console.log(
    '| durability | begun | lives/s | main µs a life | other threads | record p50 ms | p99 | loop delay p99 ms |',
  )
  console.log('|---|---|---:|---:|---:|---:|---:|---:|')
  const rows: Row[] = []
  for (const durability of ['process', 'power'] as const) {
    for (const perSecond of [undefined, RATES[durability]]) {
      const load: Load = { ...shape, durability, ...(perSecond !== undefined && { perSecond }) }
      const figures = await live(journal, epoch, load)
      rows.push({ load, figures })
      console.log(lineOf(load, figures))
    }
  }
  return rows
}

function lineOf({ durability, perSecond }: Load, f: Figures): string {
  const begun = perSecond === undefined ? 'as fast as it can' : `${perSecond}/s`
  const cells = [durability, begun, Math.round(f.perSecond).toLocaleString('en')]
  const figures = [f.mainMicros, f.otherMicros, f.latencyP50, f.latencyP99, f.loopP99].map((value) => value.toFixed(2))
  return `| ${[...cells, ...figures].join(' | ')} |`
}

/** At the rate of the grid: it is kept, and a fact takes no longer than it may. */
function isMet({ load, figures }: Row, fsyncMs: number): boolean {
  if (load.perSecond === undefined) return figures.perSecond >= RATES[load.durability]
  const mostMs = load.durability === 'process' ? 2 : 5 + fsyncMs
  return figures.perSecond >= load.perSecond * 0.98 && figures.latencyP99 <= mostMs && figures.loopP99 <= 2
}

function bareSync(folder: string): { p50: number; p99: number } {
  const fd = openSync(join(folder, 'bare'), 'w')
  const bytes = Buffer.alloc(64 * 1024, 1)
  const times = Array.from({ length: 200 }, () => {
    writeSync(fd, bytes)
    const start = performance.now()
    fdatasyncSync(fd)
    return performance.now() - start
  })
  closeSync(fd)
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

const ms = (value: number): string => value.toFixed(2)
