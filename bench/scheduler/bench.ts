/**
 * What a decision of the scheduler costs: which task a free slot takes, or which slot a new task gets. It should not
 * matter how much is waiting, for how many workers, in how many ways.
 */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { heldBytes } from '../../src/testing/held-memory.ts'
import { median } from '../middle.ts'
import { barsOf, type Corner, reportOf } from './report.ts'
import { Scenario, type Size } from './scenario.ts'

const TASKS = [1000, 100_000, 1_000_000]
const WORKERS = [10, 1000, 10_000]
const SIGNATURES = [1, 100, 10_000]
const INSTANCES = [1, 10, 1000]

const SMALLEST: Size = { tasks: 1000, workers: 10, signatures: 1, instances: 1 }
const LARGEST: Size = { tasks: 1_000_000, workers: 10_000, signatures: 10_000, instances: 1000 }
/** Steps between two looks at the clock: short, so that the queue stays about as long as it should be. */
const BATCH = 100
const BATCHES = 300
const WARM_UP_BATCHES = 100

export async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { smoke: { type: 'boolean', default: false }, all: { type: 'boolean', default: false } },
  })
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`
  const corners: Corner[] = []
  for (const size of sizes(values)) corners.push(await measure(size))
  const bars = barsOf(corners)
  console.log(reportOf({ machine, corners, bars, smoke: values.smoke }))
  return values.smoke || bars.every(({ met }) => met !== false) ? 0 : 1
}

/** Each way to grow by itself and all of them together; with --all, every combination. */
function sizes({ smoke, all }: { smoke: boolean; all: boolean }): Size[] {
  if (smoke) return [SMALLEST]
  if (!all) {
    const alone = [
      ...TASKS.map((tasks) => ({ ...SMALLEST, tasks })),
      ...WORKERS.slice(1).map((workers) => ({ ...SMALLEST, workers, tasks: 100_000 })),
      ...SIGNATURES.slice(1).map((signatures) => ({ ...SMALLEST, signatures, tasks: 100_000 })),
      ...INSTANCES.slice(1).map((instances) => ({ ...SMALLEST, instances, tasks: 100_000 })),
    ]
    const middle = { tasks: 100_000, workers: 1000, signatures: 100, instances: 10 }
    return [...alone, { ...LARGEST, tasks: 1000 }, middle, LARGEST]
  }
  return TASKS.flatMap((tasks) =>
    WORKERS.flatMap((workers) =>
      SIGNATURES.flatMap((signatures) => INSTANCES.map((instances) => ({ tasks, workers, signatures, instances }))),
    ),
  )
}

async function measure(size: Size): Promise<Corner> {
  const before = await heldBytes()
  const scenario = new Scenario(size)
  scenario.submitAll()
  const bytes = ((await heldBytes()) - before) / size.tasks
  scenario.registerAll()
  const us: number[] = []
  let spentUs = 0
  let decisions = 0
  for (let batch = -WARM_UP_BATCHES; batch < BATCHES; batch++) {
    const measured = timed(scenario)
    if (batch < 0) continue
    us.push(measured.elapsedUs / measured.decisions)
    spentUs += measured.spentUs
    decisions += measured.decisions
  }
  return {
    ...size,
    bytes,
    medianUs: median(us),
    meanUs: spentUs / decisions,
    queued: scenario.scheduler.figures().queued,
  }
}

interface Timed {
  /** By the clock: the median of these is not disturbed by other processes. */
  readonly elapsedUs: number
  /** Of the processor: coarse, but right in the sum. */
  readonly spentUs: number
  readonly decisions: number
}

/**
 * As many tasks end as come. Where a queue waits the ends make the decisions, where slots wait it is the arrivals; the
 * half that makes them is what is measured.
 */
function timed(scenario: Scenario): Timed {
  scenario.prepare(BATCH)
  const halves = [() => scenario.end(BATCH), () => scenario.submit(BATCH)].map((half) => {
    const made = scenario.decisions
    const start = performance.now()
    const spent = process.threadCpuUsage()
    half()
    const { user, system } = process.threadCpuUsage(spent)
    const elapsedUs = (performance.now() - start) * 1000
    return { elapsedUs, spentUs: user + system, decisions: scenario.decisions - made }
  })
  return halves.reduce((ends, arrivals) => (ends.decisions >= arrivals.decisions ? ends : arrivals))
}
