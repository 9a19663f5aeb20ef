/**
 * Measures the server CPU time per call. All contestants run side by side and are loaded in turn, in another order each
 * round, so that other load on the machine affects all of them. Medians are compared, never best cases. Windlass runs
 * as released, with metrics, limits, deadlines and logs; the others have fewer of these.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../child.ts'
import { checkAnswers } from './check.ts'
import { CONTESTANTS, type Contestant, startContestant } from './contestants.ts'
import { h2loadVersion, MISSING } from './h2load.ts'
import { calibrate, type Measurement, measure } from './measure.ts'
import { parseOptions } from './options.ts'
import { reportOf } from './report.ts'
import { makeRows, type Row } from './rows.ts'

const send = (words: string): void => console.error(words)

export async function run(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  const version = await h2loadVersion()
  if (version === undefined) {
    send(MISSING)
    return 2
  }
  const machine = describeMachine(version)
  await using everything = new AsyncDisposableStack()
  const ours = everything.use(startChild(new URL('./bazel-load.ts', import.meta.url)))
  const rows = makeRows({ ours, folder: temporaryFolder(), paceMs: options.smoke ? 100 : 700 })
  const contestants: Contestant[] = []
  for (const name of CONTESTANTS) {
    const contestant = everything.use(await startContestant(name))
    await checkAnswers(contestant)
    contestants.push(contestant)
    send(`${name} answers correctly`)
  }
  const heats = await warmUp(rows, contestants, options.smoke)
  const measured = await measureRounds(heats, options.rounds)
  if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify({ machine, measured }, null, 2)}\n`)
  const { text, allMet } = reportOf({ rows, measured, machine, smoke: options.smoke })
  console.log(text)
  if (options.smoke) send('a smoke run: everyone answered every call with OK; counts are too small to judge a bar by')
  return options.smoke || allMet ? 0 : 1
}

/** One contestant under one load. `calls` is the number of calls in a window. */
interface Heat {
  readonly row: Row
  readonly contestant: Contestant
  readonly calls: number
}

/** Warms all contestants up, row by row. */
async function warmUp(rows: readonly Row[], contestants: readonly Contestant[], smoke: boolean): Promise<Heat[][]> {
  const heats: Heat[][] = []
  for (const row of rows) {
    const heat: Heat[] = []
    for (const contestant of contestants) {
      heat.push({ row, contestant, calls: smoke ? row.step : await calibrate(row, contestant) })
    }
    heats.push(heat)
    if (!smoke) send(`warmed up: ${row.name}`)
  }
  return heats
}

async function measureRounds(heats: readonly (readonly Heat[])[], rounds: number): Promise<Measurement[]> {
  const measured: Measurement[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const heat of heats) {
      const first = round % heat.length
      for (const { row, contestant, calls } of [...heat.slice(first), ...heat.slice(0, first)]) {
        measured.push({ ...(await measure(row, contestant, calls)), round })
      }
    }
    send(`round ${round} of ${rounds} done`)
  }
  return measured
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function describeMachine(h2load: string): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU'
  return `${cpus().length} × ${model}, load ${loadavg()[0]?.toFixed(1)} before, Node ${process.version}, ${h2load}`
}
