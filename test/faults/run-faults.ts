/**
 * A load of short tasks on a fleet whose server and workers are killed throughout, and the invariants that must hold
 * after it.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom } from '../../src/testing/random-source.ts'
import { openFleet } from './fleet.ts'
import { wreakHavoc } from './havoc.ts'
import { type PatientClient, patientClient, type Story } from './patient-client.ts'
import { type ShortTask, shortTasks } from './short-tasks.ts'
import { type Verdict, verdictOf } from './verdict.ts'

const WORKERS = 3
const SLOTS = 3
const MOST_OPEN = 40
const BATCH = 200
const LEASE_SECONDS = 15
const RECONNECT_SECONDS = 5
/** The time that a worker has to reconnect after its connection is lost. */
const DISCONNECT_SECONDS = 10
/** When all processes are up, some task must end within this time: the longest that a lost lease can block one. */
const STUCK_MS = (LEASE_SECONDS + RECONNECT_SECONDS + DISCONNECT_SECONDS) * 1000

const SETTINGS = {
  EXECUTION_SCHEDULER_LEASE_DURATION_SECONDS: `${LEASE_SECONDS}`,
  EXECUTION_SCHEDULER_HEARTBEAT_TIMEOUT_SECONDS: `${LEASE_SECONDS}`,
  EXECUTION_SCHEDULER_RECONNECT_GRACE_SECONDS: `${RECONNECT_SECONDS}`,
  WORKER_HEARTBEAT_INTERVAL_SECONDS: '1', // what the server expects of workers
}

export interface FaultRun {
  readonly tasks: number
  readonly kills: number
  readonly seed: number
  readonly folder: string
  say(words: string): void
}

export async function runFaults({ tasks: count, kills, seed, folder, say: send }: FaultRun): Promise<Verdict> {
  const random = randomFrom(seed)
  const tasks = shortTasks(count, join(folder, 'ledger'), random)
  const lives = new Map<number, number>()
  // Half of the workers restart under the same name, the others under a new one.
  const nameOf = (worker: number): string => {
    const life = (lives.get(worker) ?? 0) + (random.chance(0.5) ? 1 : 0)
    lives.set(worker, life)
    return `worker-${worker}-${life}`
  }
  await using fleet = await openFleet({ folder, workers: WORKERS, slots: SLOTS, settings: SETTINGS, nameOf })
  const client = patientClient(fleet.address)
  for (let i = 0; i < tasks.length; i += BATCH) {
    await client.upload(tasks.slice(i, i + BATCH).flatMap(({ blobs }) => blobs))
  }
  const load = startLoad(client, tasks)
  load.allow(count / (kills + 1))
  await wreakHavoc(fleet, {
    kills,
    random,
    killed({ name }, killed) {
      load.allow((count * (killed + 1)) / (kills + 1))
      if (killed % 10 === 0) send(`${killed} kills, the last of ${name}; ${load.ended()} of ${count} tasks done`)
    },
  })
  load.allow(count)
  const stuck = await load.over(STUCK_MS)
  const verdict = await verdictOf({ fleet, client, tasks, told: load.told, stuck })
  client.close()
  return { ...verdict, failures: [...load.failures, ...verdict.failures] }
}

interface Load {
  /** The total number of tasks that may be started. */
  allow(count: number): void
  ended(): number
  readonly told: ReadonlyMap<ShortTask, Told>
  readonly failures: readonly string[]
  /** Resolves when all tasks are over, or when none ends any more; returns those that are still open. */
  over(stuckMs: number): Promise<readonly ShortTask[]>
}

/** The result that a client received for a task, and the number of attempts started by then. */
export interface Told extends Story {
  readonly triesByThen: number
}

function startLoad(client: PatientClient, tasks: readonly ShortTask[]): Load {
  const reported = new Map<ShortTask, Told>()
  const failures: string[] = []
  const open = new Set<ShortTask>()
  const giveUp = new AbortController()
  let begun = 0
  let allowed = 0
  let lastEnd = performance.now()
  const one = async (task: ShortTask): Promise<void> => {
    try {
      const story = await client.execute(task.action, giveUp.signal)
      reported.set(task, { ...story, triesByThen: task.tries().length })
    } catch (error) {
      if (giveUp.signal.aborted) return
      failures.push(`task ${task.number}: ${error instanceof Error ? error.message : error}`)
    }
    open.delete(task)
    lastEnd = performance.now()
    more()
  }
  const more = (): void => {
    while (begun < allowed && open.size < MOST_OPEN) {
      const task = tasks[begun++]
      if (task === undefined) return
      open.add(task)
      void one(task)
    }
  }
  return {
    allow(count) {
      allowed = Math.min(tasks.length, Math.ceil(count))
      more()
    },
    ended: () => reported.size,
    told: reported,
    failures,
    async over(stuckMs) {
      lastEnd = performance.now()
      while (open.size > 0 && performance.now() - lastEnd < stuckMs) await sleep(100)
      const stuck = [...open]
      giveUp.abort()
      return stuck
    },
  }
}
