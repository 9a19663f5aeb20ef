import { bucketFloor } from '../model/requirements.ts'
import { type HeapRules, LazyHeap } from '../shares/lazy-heap.ts'
import type { WorkerClass } from '../workers/records.ts'
import { joinInstanceQueue, leaveInstanceQueue, makeInstanceQueue } from './instance-queue.ts'
import type { QueueState } from './queue-state.ts'
import type { InstanceQueue, Task, WorkerPool } from './records.ts'
import { StagedList } from './staged-list.ts'

const BY_INSTANCE: HeapRules<InstanceQueue> = {
  isEmpty: ({ queued }) => queued === 0,
  dropped({ pool, instance }) {
    pool.instanceQueues.delete(instance)
  },
}

export function makeWorkerPool(grid: QueueState, bucket: number, classes: readonly WorkerClass[]): WorkerPool {
  const { ledger, now } = grid
  const { agingMs } = grid.options
  const live = classes.filter((one) => one.live > 0).length
  return {
    key: poolKey(bucket, classes),
    bucket,
    floor: bucketFloor(bucket),
    classes: [...classes],
    groups: new Set(),
    instanceQueues: new Map(),
    order: new LazyHeap(ledger, BY_INSTANCE),
    agingMs,
    searched: -1,
    queued: 0,
    avoiding: 0,
    live,
    unservedSince: live === 0 ? now : undefined,
    staged: new StagedList(),
    demands: [],
    blockedSince: undefined,
    lookedAfter: false,
    kept: undefined,
    lastDemand: undefined,
  }
}

export const poolKey = (bucket: number, classes: readonly WorkerClass[]): string =>
  `${bucket};${classes.map((one) => one.number).sort((one, other) => one - other)}`

export function joinPool(pool: WorkerPool, task: Task, front: boolean): void {
  let queue = pool.instanceQueues.get(task.instance)
  if (queue === undefined) {
    queue = makeInstanceQueue(pool, task.instance)
    pool.instanceQueues.set(task.instance, queue)
  }
  joinInstanceQueue(queue, task, front)
  pool.queued++
  if (task.avoids.length > 0) pool.avoiding++
  pool.lastDemand = task.demand
  pool.order.add(queue)
}

export function leavePool(pool: WorkerPool, task: Task): void {
  if (task.invocationQueue === undefined) return
  leaveInstanceQueue(task)
  pool.queued--
  if (task.avoids.length > 0) pool.avoiding--
}
