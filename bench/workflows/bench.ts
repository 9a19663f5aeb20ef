/**
 * Measures what a CWL runner adds to its commands: whole runs of `cwl-runner` without a server, through a server with
 * two workers, and of cwltool if it is installed. They run in turn, so that other load on the machine affects all of
 * them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startWorkflowServer } from '../../test/submissions/workflow-server.ts'
import { median } from '../middle.ts'
import { type Contestant, contestants, hasCwltool } from './contestants.ts'
import { type Workload, workloadsIn } from './documents.ts'
import { suiteTimes } from './suite.ts'
import { type Run, timed } from './timed.ts'

/** The most time relative to cwltool: for one echo without a server, and for the conformance suite through a server. */
const ECHO_BAR = 1 / 4
const SUITE_BAR = 1 / 8

/**
 * Slots of each worker: one more than this machine has processors, because a step also waits for the disk and the
 * server.
 */
const SLOTS = 3

/** Medians, and the shortest time of all rounds: the difference of two medians is lost in the noise. */
interface Took extends Run {
  readonly bestMs: number
}
type Medians = ReadonlyMap<string, Took>

export async function run(args: readonly string[]): Promise<number> {
  const options = {
    smoke: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    slots: { type: 'string' },
    huge: { type: 'boolean', default: false },
  } as const
  const { values } = parseArgs({ args: [...args], options })
  const rounds = Number(values.rounds ?? (values.smoke ? 1 : 5))
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-workflows-'))
  // The worker's trials of languages would run during the first rounds, and no workflow here uses a language.
  const env = { WINDLASS_WORKER_LANGUAGES: ',' }
  const server = await startWorkflowServer({ slots: Number(values.slots ?? SLOTS), env })
  process.once('exit', () => void server.stop())
  try {
    const load = loadavg()[0]?.toFixed(1)
    console.log(`${cpus().length} × ${cpus()[0]?.model.trim()}, load ${load}, Node ${process.version}`)
    if (!hasCwltool()) console.log('cwltool is not installed: no comparison')
    await warmUp(folder, server.url)
    const all = new Map<string, Medians>()
    for (const workload of workloadsIn(folder).filter(({ steps }) => expected(steps, values))) {
      const medians = await measure(workload, { all: contestants(server.url), folder, rounds })
      console.log(row(workload, medians))
      all.set(workload.name, medians)
    }
    const suite = process.env.WINDLASS_CWL_SUITE
    const misses = [...barsMissed(all), ...(suite && !values.smoke ? await suiteMissed(suite, server.url) : [])]
    for (const miss of misses) console.log(`missed: ${miss}`)
    return values.smoke || misses.length === 0 ? 0 : 1
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A long-running server has run for a while. */
async function warmUp(folder: string, url: string): Promise<void> {
  const wide = workloadsIn(folder).find(({ steps }) => steps === 1000)
  const ours = contestants(url).find(({ name }) => name === 'server')
  if (wide !== undefined && ours !== undefined)
    await timed([...ours.argv('warm-up'), `--outdir=${join(folder, 'out')}`, ...wide.words], 'a warm-up')
}

const expected = (steps: number, { smoke, huge }: { smoke: boolean; huge: boolean }): boolean =>
  smoke ? steps <= 20 : huge || steps <= 1000

interface Turns {
  readonly all: readonly Contestant[]
  readonly folder: string
  readonly rounds: number
}

async function measure({ name, words, steps }: Workload, { all, folder, rounds }: Turns): Promise<Medians> {
  const runs = new Map<string, Run[]>(all.map((one) => [one.name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of all) {
      const outdir = join(folder, 'out')
      const argv = one.argv(`bench-${steps}-${name.length}-${round}`)
      const took = await timed([...argv, `--outdir=${outdir}`, ...words], `${one.name}: ${name}`)
      rmSync(outdir, { recursive: true, force: true })
      if (round > 0) runs.get(one.name)?.push(took) // the first run fills caches
    }
  }
  return new Map(
    [...runs].map(([who, some]) => [
      who,
      {
        wallMs: median(some.map((one) => one.wallMs)),
        cpuMs: median(some.map((one) => one.cpuMs)),
        gridCpuMs: median(some.map((one) => one.gridCpuMs)),
        bestMs: Math.min(...some.map((one) => one.wallMs)),
      },
    ]),
  )
}

function row({ name, steps }: Workload, medians: Medians): string {
  const cells = [...medians].map(([who, { wallMs, cpuMs, gridCpuMs }]) => {
    const grid = who === 'server' ? ` + ${gridCpuMs.toFixed(0)} of server and workers` : ''
    const each = steps > 1 ? `, ${(wallMs / steps).toFixed(1)} ms a step` : ''
    return `${who} ${wallMs.toFixed(0)} ms (CPU ${cpuMs.toFixed(0)}${grid}${each})`
  })
  return `${name.padEnd(30)} ${cells.join('  ·  ')}`
}

/** A bar without a measurement to compare with is not missed. */
function barsMissed(all: ReadonlyMap<string, Medians>): readonly string[] {
  const wall = (workload: string, who: string): number => all.get(workload)?.get(who)?.wallMs ?? Number.NaN
  const best = (workload: string, who: string): number => all.get(workload)?.get(who)?.bestMs ?? Number.NaN
  /** The time that a step adds, without the start of the program and its first step. */
  const step = (who: string): number => (best('a chain of 20 cat', who) - best('one echo', who)) / 19
  console.log(`a step of the chain: server ${step('server').toFixed(1)} ms, cwltool ${step('cwltool').toFixed(1)} ms`)
  return [
    wall('one echo', 'embedded') > wall('one echo', 'cwltool') * ECHO_BAR && 'one echo, embedded: 1/4 of cwltool',
    step('server') > step('cwltool') && 'a step by way of the server: as short as one of cwltool',
    wall('a scatter of 1000 echo', 'server') > wall('a scatter of 1000 echo', 'cwltool') &&
      'a scatter of 1000 by way of the server: as fast as cwltool',
  ].filter((miss) => miss !== false)
}

async function suiteMissed(folder: string, url: string): Promise<readonly string[]> {
  const { tests, passed, serverMs, sample } = await suiteTimes(folder, url)
  console.log(`the conformance suite: server ${(serverMs / 1000).toFixed(1)} s, ${passed} of ${tests} passed`)
  if (sample === undefined) return []
  const { tests: some, serverMs: ours, processesMs, cwltoolMs: theirs } = sample
  const cell = (ms: number): string => `${(ms / 1000).toFixed(1)} s (1/${(theirs / ms).toFixed(1)})`
  console.log(
    `${some} of its tests: server ${cell(ours)}, by a process for each ${cell(processesMs)}, cwltool ${cell(theirs)}`,
  )
  return ours > theirs * SUITE_BAR ? ['the suite: in 1/8 of the time of cwltool'] : []
}
