/**
 * What a CWL runner adds to the commands that it runs: whole runs, from the start of the program to its end, of
 * `cwl-runner` and of cwltool where that is installed. They take turns, so that a noisy neighbour disturbs both alike.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { tethered } from '../child.ts'
import { median } from '../middle.ts'
import { type Workload, workloadsIn } from './documents.ts'

const RUNNER = fileURLToPath(new URL('../../bin/cwl-runner', import.meta.url))
const FLAGS = ['--no-container', '--quiet']
/** Of cwltool's time for one echo. */
const ECHO_BAR = 1 / 4

interface Contestant {
  readonly name: string
  readonly argv: readonly string[]
}

interface Run {
  readonly wallMs: number
  readonly cpuMs: number
}

export async function run(args: readonly string[]): Promise<number> {
  const options = { smoke: { type: 'boolean', default: false }, rounds: { type: 'string' } } as const
  const { values } = parseArgs({ args: [...args], options })
  const rounds = Number(values.rounds ?? (values.smoke ? 1 : 5))
  const hasCwltool = spawnSync('cwltool', ['--version']).status === 0
  const contestants: readonly Contestant[] = [
    { name: 'windlass', argv: [RUNNER, ...FLAGS] },
    ...(hasCwltool ? [{ name: 'cwltool', argv: ['cwltool', ...FLAGS, '--parallel'] }] : []),
  ]
  const folder = mkdtempSync(join(tmpdir(), 'windlass-bench-workflows-'))
  try {
    console.log(
      `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`,
    )
    if (!hasCwltool) console.log('cwltool is not installed: no comparison')
    const workloads = workloadsIn(folder).filter(({ steps }) => !values.smoke || steps <= 20)
    let met = true
    for (const workload of workloads) {
      const medians = await measure(workload, { contestants, folder, rounds })
      console.log(row(workload, medians))
      const [ours, theirs] = [medians.get('windlass'), medians.get('cwltool')]
      if (workload.steps === 1 && ours && theirs) met = ours.wallMs <= theirs.wallMs * ECHO_BAR
    }
    return values.smoke || met ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Turns {
  readonly contestants: readonly Contestant[]
  readonly folder: string
  readonly rounds: number
}

async function measure(
  { name, words }: Workload,
  { contestants, folder, rounds }: Turns,
): Promise<ReadonlyMap<string, Run>> {
  const runs = new Map<string, Run[]>(contestants.map((one) => [one.name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of contestants) {
      const outdir = join(folder, 'out')
      const took = await timed([...one.argv, `--outdir=${outdir}`, ...words], `${one.name}: ${name}`)
      rmSync(outdir, { recursive: true, force: true })
      if (round > 0) runs.get(one.name)?.push(took) // the first fills caches
    }
  }
  return new Map(
    [...runs].map(([who, all]) => [
      who,
      { wallMs: median(all.map((one) => one.wallMs)), cpuMs: median(all.map((one) => one.cpuMs)) },
    ]),
  )
}

/** The shell knows what its children have used, those of a contestant included. */
function timed([program = '', ...words]: readonly string[], what: string): Promise<Run> {
  const script = 'TIMEFORMAT="%R %U %S"; time "$0" "$@" 2>/dev/null >/dev/null'
  return new Promise((resolve, reject) => {
    const child = tethered(spawn('bash', ['-c', script, program, ...words], { stdio: ['ignore', 'ignore', 'pipe'] }))
    let told = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      told += text
    })
    child.once('close', (code) => {
      const [real = Number.NaN, user = Number.NaN, system = Number.NaN] = told.trim().split(/\s+/).map(Number)
      if (code === 0) resolve({ wallMs: real * 1000, cpuMs: (user + system) * 1000 })
      else reject(new Error(`${what} failed with exit code ${code}`))
    })
  })
}

function row({ name, steps }: Workload, medians: ReadonlyMap<string, Run>): string {
  const cells = [...medians].map(([who, { wallMs, cpuMs }]) => {
    const each = steps > 1 ? `, ${(wallMs / steps).toFixed(1)} ms a step` : ''
    return `${who} ${wallMs.toFixed(0)} ms (CPU ${cpuMs.toFixed(0)}${each})`
  })
  return `${name.padEnd(30)} ${cells.join('  ·  ')}`
}
