/** What leaves for the doors after an event, in order; leases for one worker go together. */
import { attemptId, sameFencing } from '../model/fencing.ts'
import type { LiveTask } from './live-task.ts'
import { isDurable } from './record-state.ts'
import { type GrantedLease, guarded, type Shell } from './shell.ts'
import { askedBy, type WorkerLink } from './worker-link.ts'
import type { TaskLease } from './worker-session.ts'

export function deliver(shell: Shell): void {
  const { outward } = shell
  if (outward.length === 0) return
  shell.outward = []
  const links: WorkerLink[] = []
  for (const item of outward) {
    if ('call' in item) {
      guarded(shell, item.call)
      continue
    }
    const link = prepare(shell, item)
    if (link !== undefined && link.batch.length === 1) links.push(link)
  }
  for (const link of links) handOver(shell, link)
}

/** Puts the lease to the others of its worker, if it is still one. */
function prepare(shell: Shell, lease: GrantedLease): WorkerLink | undefined {
  const { task, worker, fencing } = lease
  if (!isCurrent(lease) || task.state === 'stopping' || task.record === 'refused') return undefined
  if (!isDurable(task) && !task.mayStartEarly) {
    task.held = lease
    return undefined
  }
  const link = shell.links.get(worker)
  if (link === undefined) {
    shell.events.push({
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

/** Of an operation that still wants it. */
const nameFor = ({ first, merged }: LiveTask): string =>
  (first.attendance === 'waiting' ? first : (merged?.find(({ attendance }) => attendance === 'waiting') ?? first)).name

function handOver(shell: Shell, link: WorkerLink): void {
  const { batch } = link
  link.batch = []
  if (!link.description.pulls) {
    if (guarded(shell, () => link.session.lease(batch))) return
    // Or the next would go the same way, at once.
    shell.events.push({ kind: 'disconnected', worker: link.description.worker })
    giveBack(shell, link, batch)
    return
  }
  let given = 0
  while (given < batch.length) {
    const parked = link.parked.shift()
    if (parked === undefined) break
    const leases = batch.slice(given, given + parked.tasks)
    given += leases.length
    if (!guarded(shell, () => parked.answer(leases))) giveBack(shell, link, leases)
  }
  // The poll that they were for has been withdrawn meanwhile.
  if (given < batch.length) giveBack(shell, link, batch.slice(given))
  const { worker } = link.description
  if (link.parked.length > 0) shell.events.push({ kind: 'ask', worker, tasks: askedBy(link) })
}

function giveBack(shell: Shell, { description: { worker } }: WorkerLink, leases: readonly TaskLease[]): void {
  for (const { task } of leases) {
    const fencing = shell.tasks.get(task)?.fencing
    if (fencing !== undefined)
      shell.events.push({
        kind: 'returned',
        task,
        worker,
        fencing,
        what: 'it could not be handed over',
        undelivered: true,
      })
  }
}
