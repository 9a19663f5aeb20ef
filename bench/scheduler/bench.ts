/**
 * Measures the cost of a scheduler decision: the task for a free slot, or the slot for a new task. It should not depend
 * on the number of tasks, workers, signatures and instances.
 */
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { GridEvent } from '../../src/scheduler/model/events.ts'
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
/**
 * Events between two readings of the clock. There are few, so that the length of the queue stays nearly constant. The
 * tasks that end are chosen before the batch, and a small grid has no more than this in its slots.
 */
const BATCH = 20
const MEASURED = 30_000
const WARM_UP = 10_000

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

/** Grows each dimension alone and all of them together; with --all, every combination. */
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
  const sum = { spentUs: 0, otherUs: 0, events: 0, decisions: 0 }
  for (let done = -WARM_UP; done < MEASURED; done += BATCH) {
    const { deciding, other } = timed(scenario)
    if (done < 0) continue
    us.push(deciding.elapsedUs / deciding.decisions)
    sum.spentUs += deciding.spentUs
    sum.decisions += deciding.decisions
    sum.otherUs += other.spentUs
    sum.events += BATCH
  }
  return {
    ...size,
    bytes,
    medianUs: median(us),
    meanUs: sum.spentUs / sum.decisions,
    otherUs: sum.otherUs / sum.events,
    queued: scenario.scheduler.figures().queued,
    digest: scenario.digest,
  }
}

interface Half {
  /** Wall time: a batch is so short that most are not interrupted, and the median is of one that was not. */
  readonly elapsedUs: number
  /** CPU time: coarse, but correct in the sum. */
  readonly spentUs: number
  readonly decisions: number
}

/**
 * As many tasks end as arrive. If tasks are queued, the ends cause decisions; if slots are free, the arrivals do. The
 * half that causes them is measured, and the other half is also printed. Between two readings of the clock there are
 * only calls of `apply`: the events are made before, and the effects are read later.
 */
function timed(scenario: Scenario): { deciding: Half; other: Half } {
  const ends = half(scenario, scenario.ends(BATCH))
  const arrivals = half(scenario, scenario.arrivals(BATCH))
  return ends.decisions >= arrivals.decisions
    ? { deciding: ends, other: arrivals }
    : { deciding: arrivals, other: ends }
}

function half(scenario: Scenario, events: readonly GridEvent[]): Half {
  const made = scenario.decisions
  const spent = process.threadCpuUsage()
  const start = performance.now()
  scenario.apply(events)
  const elapsedUs = (performance.now() - start) * 1000
  const { user, system } = process.threadCpuUsage(spent)
  scenario.look()
  return { elapsedUs, spentUs: user + system, decisions: scenario.decisions - made }
}
