import type { LocalWorkerService } from '../../../src/engine/workers/worker-service.ts'
import type { TaskLease, WorkerSession } from '../../../src/engine/workers/worker-session.ts'

export interface Delays {
  /** From the later of *queued* and *a slot is free* until the worker was notified. */
  readonly scheduling: number[]
  /** For tasks that arrived while other tenants had all slots: from the first slot that became free. */
  readonly firstSlot: number[]
}

/** The tenant whose tasks are measured from the first slot that becomes free. */
export const OTHER_TENANT = 'other'

const now = (): number => performance.timeOrigin + performance.now()

/** One worker as the server sees it: since when its slots are free, and its attempts. */
interface Slots {
  readonly name: string
  readonly count: number
  readonly held: Set<string>
  free: number[]
}

/** Observes the worker service: records when slots became free and when tasks were assigned. */
export function timedDesk(inner: LocalWorkerService): LocalWorkerService & { taken(): Delays } {
  const workers = new Map<string, Slots>()
  const frees: number[] = []
  let delays: Delays = { scheduling: [], firstSlot: [] }
  /** An overloaded worker gets half as many tasks. */
  const usableOf = ({ name, count }: Slots): number =>
    inner.list().some(({ worker, state }) => worker === name && state === 'DEGRADED')
      ? Math.max(1, Math.floor(count / 2))
      : count
  const leased = (worker: Slots, { attemptId, queuedAt, instance }: TaskLease): void => {
    const at = now()
    const { held } = worker
    // Slots that are left free on purpose, and those of revoked attempts, are not slots to wait for.
    worker.free = worker.free.slice(-Math.max(1, usableOf(worker) - held.size))
    held.add(attemptId)
    const since = worker.free.shift() ?? at
    delays.scheduling.push(Math.max(0, at - Math.max(queuedAt, since)))
    // The clocks count whole milliseconds.
    const first = frees.find((each) => each >= queuedAt + 1)
    if (instance === OTHER_TENANT && first !== undefined && since >= queuedAt) delays.firstSlot.push(at - first)
  }
  const freed = (worker: Slots | undefined, attemptId: string): void => {
    const at = now()
    if (worker?.held.delete(attemptId) !== true) return
    worker.free.push(at)
    frees.push(at)
    if (frees.length > 10_000) frees.splice(0, 5000)
  }
  return {
    ...inner,
    register(description, session) {
      const { worker: name, slots: count, running = [] } = description
      const worker = { name, count, held: new Set(running), free: Array<number>(count - running.length).fill(now()) }
      workers.set(name, worker)
      const reported: WorkerSession = Object.assign(Object.create(session) as WorkerSession, {
        lease(leases: readonly TaskLease[]) {
          for (const each of leases) leased(worker, each)
          session.lease(leases)
        },
      })
      inner.register(description, reported)
    },
    finished(word, report) {
      freed(workers.get(word.worker), word.attemptId)
      return inner.finished(word, report)
    },
    taken() {
      const all = delays
      delays = { scheduling: [], firstSlot: [] }
      return all
    },
  }
}
