/**
 * What a call to the cache costs the server. All contestants run side by side and are loaded in turn, in another order
 * each round, so that a noisy neighbour hits all of them; medians are compared, never best cases. Windlass runs as
 * shipped. Beside each row stands its floor: the same bytes moved by a bare loop that does nothing else.
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

/** What a full run leaves with all servers before it ends, and some. */
const LEAST_FREE_BYTES = 40e9

const say = (words: string): void => console.error(words)

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
    say(`a full run uploads a lot: ${tmpdir()} needs ${LEAST_FREE_BYTES / 1e9} GB of room (TMPDIR names another place)`)
    return 2
  }
  const rows = makeRows(bench.stock).filter(({ name }) => name.includes(options.only ?? ''))
  const party = everything.use(await gather(options, folder))
  const { contestants } = party
  const absences = [...party.absences]
  for (const absence of absences) say(`not here: ${absence}`)
  const { smoke, rounds } = options
  const excuse = excusing(absences, smoke)
  const heats = await prepare(bench, { rows, contestants, excuse, smoke })
  const measured = smoke ? await checkAll(bench, heats) : await measureRounds(bench, heats, { rounds, excuse })
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify({ machine, measured }, null, 2)}\n`)
  const command = `npm run bench cache${args.length > 0 ? ` -- ${args.join(' ')}` : ''}`
  const { text, allMet } = reportOf({ rows, contestants, measured, absences, machine, command })
  if (options.smoke) {
    say(`${measured.length} loads: every answer was right. Counts this small measure nothing.`)
    return 0
  }
  console.log(text)
  return allMet ? 0 : 1
}

/** One contestant under one load, with as many calls as fill a window. */
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

/** Row by row, and within a row everyone in turn. */
async function prepare(bench: Bench, field: Field): Promise<Heat[][]> {
  const heats: Heat[][] = field.rows.map(() => [])
  for (const contestant of field.contestants) {
    await warmUp(bench, field, { contestant, heats })
    say(`${contestant.name} answers correctly${field.smoke ? '' : ', and is warm'}`)
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
    say(`round ${round} of ${rounds} done`)
  }
  return measured
}

interface Rounds {
  readonly rounds: number
  /** Notes why a contestant leaves a row; throws when it is one that may not. */
  excuse(one: Pick<Heat, 'row' | 'contestant'>, error: unknown): void
}

/** Others may lack a method, or break down; we may not, and in a smoke run nobody may. */
const excusing =
  (absences: string[], smoke: boolean): Rounds['excuse'] =>
  ({ row, contestant: { name } }, error) => {
    const words = `${name}, ${row.name}: ${error instanceof Error ? error.message : error}`
    if (smoke || name === 'windlass') throw new Error(words, { cause: error })
    absences.push(words)
    say(words)
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
