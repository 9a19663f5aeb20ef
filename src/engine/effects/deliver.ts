/** What leaves for the doors after an event, in order; leases for one worker go together. */

import { attemptId, sameFencing } from '../../model/fencing.ts'
import type { EngineState } from '../state/engine-state.ts'
import { guarded } from '../tasks/guarded.ts'
import type { GrantedLease, LiveTask } from '../tasks/live-task.ts'
import { isDurable } from '../tasks/record-state.ts'
import { askedBy, type SessionLink } from '../workers/worker-link.ts'
import type { TaskLease } from '../workers/worker-session.ts'

export function deliver(engine: EngineState): void {
  const { outward } = engine
  if (outward.length === 0) return
  engine.outward = []
  const links: SessionLink[] = []
  for (const item of outward) {
    if ('call' in item) {
      guarded(engine.log, item.call)
      continue
    }
    const link = prepare(engine, item)
    if (link !== undefined && link.batch.length === 1) links.push(link)
  }
  for (const link of links) handOver(engine, link)
}

/** Puts the lease to the others of its worker, if it is still one. */
function prepare(engine: EngineState, lease: GrantedLease): SessionLink | undefined {
  const { task, worker, fencing } = lease
  if (!isCurrent(lease) || task.state === 'stopping' || task.record === 'refused') return undefined
  if (!isDurable(task) && !task.mayStartEarly) {
    task.held = lease
    return undefined
  }
  const link = engine.links.find(worker)
  if (link === undefined) {
    engine.events.push({
      kind: 'returned',
      task: task.id,
      worker,
      fencing,
      what: 'its worker could not be reached',
      undelivered: true,
    })
    return undefined
  }
  task.isDelivered = true
  const id = attemptId(task.id, fencing)
  task.attemptId = id
  link.batch.push(leaseOf(lease, id))
  return link
}

const isCurrent = ({ task, fencing }: GrantedLease): boolean =>
  task.fencing !== undefined && sameFencing(task.fencing, fencing)

const leaseOf = ({ task, expiresAt, prefetch }: GrantedLease, id: string): TaskLease => ({
  attemptId: id,
  task: task.id,
  attempt: task.attempt,
  operation: nameFor(task),
  instance: task.instance,
  origin: task.origin,
  spec: task.spec,
  timeoutMs: task.timeoutMs,
  expiresAt,
  queuedAt: task.queuedAt,
  prefetch,
})

/** Returns the name of an operation that is still open. */
const nameFor = ({ first, merged }: LiveTask): string =>
  (first.attendance === 'waiting' ? first : (merged?.find(({ attendance }) => attendance === 'waiting') ?? first)).name

function handOver(engine: EngineState, link: SessionLink): void {
  const { batch } = link
  link.batch = []
  if (!link.description.pulls) {
    if (guarded(engine.log, () => link.session.lease(batch))) return
    // Or the next would go the same way, at once.
    engine.events.push({ kind: 'disconnected', worker: link.description.worker })
    giveBack(engine, link, batch)
    return
  }
  let given = 0
  while (given < batch.length) {
    const parked = link.parked.shift()
    if (parked === undefined) break
    const leases = batch.slice(given, given + parked.tasks)
    given += leases.length
    if (!guarded(engine.log, () => parked.answer(leases))) giveBack(engine, link, leases)
  }
  // The poll that they were for has been withdrawn meanwhile.
  if (given < batch.length) giveBack(engine, link, batch.slice(given))
  const { worker } = link.description
  if (link.parked.length > 0) engine.events.push({ kind: 'ask', worker, tasks: askedBy(link) })
}

function giveBack(engine: EngineState, { description: { worker } }: SessionLink, leases: readonly TaskLease[]): void {
  for (const { task } of leases) {
    const fencing = engine.live.tasks.get(task)?.fencing
    if (fencing !== undefined)
      engine.events.push({
        kind: 'returned',
        task,
        worker,
        fencing,
        what: 'it could not be handed over',
        undelivered: true,
      })
  }
}
