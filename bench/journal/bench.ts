/**
 * Measures the cost of whole tasks (submitted, leased, finished, notified) through engine and journal: the highest
 * rate; at a moderate rate, the time of an acknowledgement and of a result; and the delay of the main loop. For
 * comparison: the engine with a journal that does nothing, the journal alone, a bare sync of the same disk, and a start
 * with many open tasks. On a shared machine, only the CPU columns and the last column are meaningful.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import type { Durability } from '../../src/storage/journal/fact.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'
import { sqliteJournal } from '../../src/storage/journal/sqlite/sqlite-journal.ts'
import { quantile } from '../middle.ts'
import { type Bar, barsOf, type Measured, MODERATE, RATES, recoveryBar } from './bars.ts'
import { type Grid, type GridFigures, type GridLoad, gridFor, liveInGrid } from './grid-lives.ts'
import { live } from './lives.ts'
import { type RecoveryFigures, recoverTasks } from './recovery.ts'

/** Tasks that are open at once: more than any rate here needs. */
const OPEN = 1000
/** Long enough for percentiles. */
const MODERATE_SECONDS = 5

interface Shape {
  readonly lives: number
  readonly bytes: number
  readonly smoke: boolean
}

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      smoke: { type: 'boolean', default: false },
      lives: { type: 'string' },
      bytes: { type: 'string', default: '500' },
      folder: { type: 'string', default: tmpdir() },
      open: { type: 'string' },
      pretenuring: { type: 'boolean', default: false },
    },
  })
  const { smoke } = values
  const shape = { lives: Number(values.lives ?? (smoke ? 2000 : 300_000)), bytes: Number(values.bytes), smoke }
  // V8 takes tasks that are open during a collection for long-lived objects. From then on it allocates them in the old
  // space, where only a full collection frees them. This is more than half of the cost of collection.
  if (!values.pretenuring) setFlagsFromString('--no-allocation-site-pretenuring')
  const folder = mkdtempSync(join(values.folder, 'windlass-bench-journal-'))
  try {
    const fsync = bareSync(folder)
    console.log(
      `${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}. ${shape.lives} lives a row, ` +
        `${shape.bytes} bytes of spec and of result. A bare sync of 64 KiB: p50 ${ms(fsync.p50)}, p99 ${ms(fsync.p99)} ms.\n`,
    )
    const measured = await measureGrid(join(folder, 'grid'), shape)
    await measureJournal(join(folder, 'alone'), shape)
    const recovery = await measureRecovery(
      join(folder, 'recovery'),
      Number(values.open ?? (smoke ? 2000 : 100_000)),
      shape,
    )
    const bars = [...barsOf(measured, fsync.p99), recoveryBar(recovery)]
    console.log(
      ['', '| bar | limit | measured | |', '|---|---:|---:|---|', ...bars.map((bar) => barLine(bar, smoke))].join('\n'),
    )
    return smoke || bars.every(({ met }) => met) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const barLine = ({ what, limit, measured, met }: Bar, smoke: boolean): string =>
  `| ${what} | ${limit} | ${measured} | ${smoke ? 'not judged' : met ? 'met' : 'missed'} |`

async function measureGrid(folder: string, { lives, bytes, smoke }: Shape): Promise<Measured[]> {
  console.log(
    '| through | durability | begun | lives/s | main µs a life | writer | V8 | others | acknowledged p50 ms | p99 | told p50 ms | p99 | loop delay p99 ms | main kept waiting |',
  )
  console.log('|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|')
  const bare = await gridFor(NO_JOURNAL, bytes)
  await liveInGrid(bare, { durability: 'process', bytes, open: 128, lives: Math.min(lives, 50_000) }) // JIT warm-up
  await row(bare, 'engine alone', { durability: 'process', bytes, open: 128, lives })
  await bare.engine.close()
  const journal = await sqliteJournal({ folder, owner: 'bench', pid: process.pid })
  const grid = await gridFor(journal, bytes)
  const rows: Measured[] = []
  for (const durability of ['process', 'power'] as const) {
    for (const perSecond of [undefined, RATES[durability], MODERATE]) {
      const most = perSecond === MODERATE && !smoke ? MODERATE * MODERATE_SECONDS : lives
      const load: GridLoad = {
        durability,
        bytes,
        open: OPEN,
        lives: most,
        ...(perSecond !== undefined && { perSecond }),
      }
      rows.push({ load, figures: await row(grid, 'engine and journal', load) })
    }
  }
  await grid.engine.close()
  await journal.close()
  return rows
}

async function row(grid: Grid, through: string, load: GridLoad): Promise<GridFigures> {
  const f = await liveInGrid(grid, load)
  const begun = load.perSecond === undefined ? 'as fast as it can' : `${load.perSecond}/s`
  const micros = [f.mainMicros, f.writerMicros, f.v8Micros, f.otherMicros]
  const times = [f.acknowledgedP50, f.acknowledgedP99, f.toldP50, f.toldP99, f.loopP99]
  const figures = [whole(f.perSecond), ...[...micros, ...times].map(ms), percent(f.keptWaiting)]
  console.log(`| ${[through, load.durability, begun, ...figures].join(' | ')} |`)
  return f
}

/** A journal that records nothing: the rest is the cost of the engine. */
const NO_JOURNAL: Journal = {
  recover: async () => ({ epoch: 1, tasks: [], namesOffered: [] }),
  record: async () => [],
  find: async () => undefined,
  list: async () => ({ tasks: [], next: undefined }),
  forget: async () => 0,
  close: async () => {},
}

async function measureJournal(folder: string, { lives, bytes }: Shape): Promise<void> {
  const journal = await sqliteJournal({ folder, owner: 'bench', pid: process.pid })
  const { epoch } = await journal.recover()
  const shape = { open: OPEN, bytes, names: 'growing' } as const
  const without = await live(NO_JOURNAL, epoch, { ...shape, durability: 'process', lives })
  console.log(
    '\n| journal alone | lives/s | main µs a life | writer | V8 | others | record p50 ms | p99 | loop delay p99 ms | main kept waiting |',
  )
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|')
  for (const durability of ['process', 'power'] as const satisfies readonly Durability[]) {
    const f = await live(journal, epoch, { ...shape, durability, lives })
    const micros = [f.mainMicros, f.writerMicros, f.v8Micros, f.otherMicros]
    const times = [f.latencyP50, f.latencyP99, f.loopP99]
    const figures = [whole(f.perSecond), ...[...micros, ...times].map(ms), percent(f.keptWaiting)]
    console.log(`| ${[durability, ...figures].join(' | ')} |`)
  }
  console.log(`\nOf the main thread's time there, ${ms(without.mainMicros)} µs a life are the load itself.`)
  await journal.close()
}

async function measureRecovery(folder: string, open: number, { bytes }: Shape): Promise<RecoveryFigures> {
  const recovery = await recoverTasks(folder, open, bytes)
  console.log(
    `A start with ${open} open tasks takes ${ms(recovery.ms)} ms; CPU ${ms(recovery.mainMs)} ms on main, ${ms(recovery.allMs)} in all.`,
  )
  return recovery
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
const percent = (value: number): string => `${Math.round(value * 100)} %`
const whole = (value: number): string => Math.round(value).toLocaleString('en')
