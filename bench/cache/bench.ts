/**
 * Measures the server CPU time per cache call. All contestants run side by side and are loaded in turn, in another
 * order each round, so that other load on the machine affects all of them. Medians are compared, never best cases.
 * Windlass runs with its defaults. Each row also has a floor: the same bytes, moved by a bare loop that does nothing
 * else.
 */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../child.ts'
import { checkLarge } from './checks/large.ts'
import { checkReopen } from './checks/reopen.ts'
import type { Contestant } from './contestant.ts'
import { gather } from './contestants.ts'
import { fill } from './fill.ts'
import type { LoadQuestion } from './generator/load.ts'
import { type Bench, calibrate, checkOnce, type Measurement, measure } from './measure.ts'
import { parseOptions } from './options.ts'
import { FULL, SMOKE } from './plan.ts'
import { reportOf } from './report.ts'
import { makeRows, type Row } from './rows.ts'

/** More disk space than all servers use at the end of a full run. */
const LEAST_FREE_BYTES = 40e9

const send = (words: string): void => console.error(words)

export async function run(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  const machine = describeMachine()
  const folder = temporaryFolder()
  await using everything = new AsyncDisposableStack()
  const generator = everything.use(startChild(new URL('./generator/load.ts', import.meta.url)))
  const bench: Bench = { generator, stock: options.smoke ? SMOKE : FULL, paceMs: 700 }
  if (options.large) return await checkLarge(bench, folder)
  if (options.reopen) return await checkReopen(bench, folder)

  if (!options.smoke && freeBytes(folder) < LEAST_FREE_BYTES) {
    send(
      `a full run uploads a lot: ${tmpdir()} needs ${LEAST_FREE_BYTES / 1e9} GB of room (TMPDIR names another place)`,
    )
    return 2
  }
  const rows = makeRows(bench.stock).filter(({ name }) => name.includes(options.only ?? ''))
  const party = everything.use(await gather(options, folder))
  const { contestants } = party
  const absences = [...party.absences]
  for (const absence of absences) send(`not here: ${absence}`)
  const { smoke, rounds } = options
  const excuse = excusing(absences, smoke)
  const heats = await prepare(bench, { rows, contestants, excuse, smoke })
  const measured = smoke ? await checkAll(bench, heats) : await measureRounds(bench, heats, { rounds, excuse })
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify({ machine, measured }, null, 2)}\n`)
  const command = `npm run bench cache${args.length > 0 ? ` -- ${args.join(' ')}` : ''}`
  const { text, allMet } = reportOf({ rows, contestants, measured, absences, machine, command })
  if (options.smoke) {
    send(`${measured.length} loads: every answer was right. Counts this small measure nothing.`)
    return 0
  }
  console.log(text)
  return allMet ? 0 : 1
}

/** One contestant under one load. `calls` is the number of calls in a window. */
interface Heat {
  readonly row: Row
  readonly contestant: Contestant
  readonly calls: number
}

interface Field {
  readonly rows: readonly Row[]
  readonly contestants: readonly Contestant[]
  readonly excuse: Rounds['excuse']
  readonly smoke: boolean
}

/** Warms all contestants up, and returns the heats row by row. */
async function prepare(bench: Bench, field: Field): Promise<Heat[][]> {
  const heats: Heat[][] = field.rows.map(() => [])
  for (const contestant of field.contestants) {
    await warmUp(bench, field, { contestant, heats })
    send(`${contestant.name} answers correctly${field.smoke ? '' : ', and is warm'}`)
  }
  await bench.generator.ask<void>({ ask: 'forget' } satisfies LoadQuestion)
  return heats
}

async function warmUp(bench: Bench, field: Field, { contestant, heats }: { contestant: Contestant; heats: Heat[][] }) {
  const { rows, excuse, smoke } = field
  const refused = await fill(bench, contestant, new Set(rows.map(({ plan }) => plan.kind)))
  for (const [i, row] of rows.entries()) {
    try {
      const why = refused.get(row.plan.kind)
      if (why !== undefined) throw new Error(why)
      heats[i]?.push({ row, contestant, calls: smoke ? 1 : await calibrate(bench, row, contestant) })
    } catch (error) {
      excuse({ row, contestant }, error)
    }
  }
}

async function checkAll(bench: Bench, heats: readonly (readonly Heat[])[]): Promise<Measurement[]> {
  const measured: Measurement[] = []
  for (const { row, contestant } of heats.flat()) measured.push(await checkOnce(bench, row, contestant))
  return measured
}

async function measureRounds(
  bench: Bench,
  heats: readonly Heat[][],
  { rounds, excuse }: Rounds,
): Promise<Measurement[]> {
  const measured: Measurement[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const heat of heats) {
      const first = round % Math.max(1, heat.length)
      for (const one of [...heat.slice(first), ...heat.slice(0, first)]) {
        try {
          measured.push(await measure(bench, { ...one, set: `round ${round}` }, round))
        } catch (error) {
          excuse(one, error)
          heat.splice(heat.indexOf(one), 1)
        }
      }
      await bench.generator.ask<void>({ ask: 'forget' } satisfies LoadQuestion)
    }
    send(`round ${round} of ${rounds} done`)
  }
  return measured
}

interface Rounds {
  readonly rounds: number
  /** Records why a contestant is removed from a row. Throws when it must not be removed. */
  excuse(one: Pick<Heat, 'row' | 'contestant'>, error: unknown): void
}

/** Other servers may lack a method or fail. Windlass must not, and in a smoke run no contestant may. */
const excusing =
  (absences: string[], smoke: boolean): Rounds['excuse'] =>
  ({ row, contestant: { name } }, error) => {
    const words = `${name}, ${row.name}: ${error instanceof Error ? error.message : error}`
    if (smoke || name === 'windlass') throw new Error(words, { cause: error })
    absences.push(words)
    send(words)
  }

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-cache-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

function describeMachine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU'
  return `${cpus().length} × ${model}, load ${loadavg()[0]?.toFixed(1)} before, Node ${process.version}`
}
