import type { InstanceName } from '../../model/instance-name.ts'
import type { QueuedRequest } from '../model/events.ts'
import { type Amounts, type RequestedRequirements, requirementsOf, sameAmounts } from '../model/requirements.ts'
import { openInstanceAccount, openInvocation } from '../shares/usage-accounts.ts'
import { affinityInput } from '../workers/affinity.ts'
import { addGroup } from './matchmaking.ts'
import { FEWEST_SWEPT, type QueueState } from './queue-state.ts'
import { type InstanceState, NO_LEASE, type RequirementGroup, type Task } from './records.ts'

const PRIORITIES = { least: -100, most: 100 }

const NOTHING: readonly string[] = []

interface Accepted extends Pick<Task, 'instance' | 'demand' | 'waiters'> {
  readonly ageMs: number
}

/** Adds a task to the tables, without queueing it. */
export function newTask(
  grid: QueueState,
  request: QueuedRequest,
  { instance, demand, ageMs, waiters }: Accepted,
): Task {
  const { properties, refusesPreemptible = false, affinity = NOTHING } = request
  const group = groupFor(grid, { properties, refusesPreemptible, demand })
  const invocation = openInvocation(instance, request.invocation)
  const task: Task = {
    // The order of the fields in memory: first those that every decision reads or writes, last the rarely used ones.
    id: request.task,
    state: 'pending',
    leaseNumber: NO_LEASE,
    group,
    demand: sharedDemand(group, demand),
    instance,
    invocation,
    timeoutMs: request.timeoutMs,
    merges: false,
    number: 0,
    idHash: 0,
    actionHash: 0,
    inGroup: false,
    parked: false,
    attempt: 0,
    actionKey: request.actionKey,
    invocationQueue: undefined,
    queueNext: undefined,
    queuePrevious: undefined,
    groupNext: undefined,
    groupPrevious: undefined,
    input1: affinityInput(grid.affinity, affinity[0]),
    input2: affinityInput(grid.affinity, affinity[1]),
    input3: affinityInput(grid.affinity, affinity[2]),
    input4: affinityInput(grid.affinity, affinity[3]),
    passedOver: 0,
    acceptedAt: grid.now - ageMs,
    estimateMs: request.estimateMs,
    priority: clampedPriority(request.priority),
    queuedAt: grid.now,
    interactive: request.interactive ?? false,
    maxRetries: request.maxRetries ?? grid.options.retry.maxRetries,
    waiters,
    faults: 0,
    lostWorkers: NOTHING,
    avoids: NOTHING,
    yields: 0,
  }
  grid.tasks.add(task)
  grid.tasks.startMerging(task)
  instance.unfinished++
  invocation.unfinished++
  group.unfinished++
  return task
}

export const clampedPriority = (priority: number): number =>
  Number.isNaN(priority) ? 0 : Math.round(Math.min(PRIORITIES.most, Math.max(PRIORITIES.least, priority)))

/** The group of tasks with the same requirements, created on first use. */
export function groupFor(grid: QueueState, requested: RequestedRequirements): RequirementGroup {
  const requirements = requirementsOf(requested)
  return grid.groups.get(requirements) ?? addGroup(grid, requirements)
}

/** The number of recent demands that a pool remembers. */
const DEMANDS_KNOWN = 4

/**
 * Tasks of one size usually demand exactly the same amounts. They share one object, which is then usually in the
 * processor's cache when a task is compared with a worker, however many groups there are.
 */
function sharedDemand({ pool: { demands } }: RequirementGroup, demand: Amounts): Amounts {
  for (const known of demands) if (sameAmounts(known, demand)) return known
  if (demands.unshift(demand) > DEMANDS_KNOWN) demands.pop()
  return demand
}

/** The state of an instance, created on first use. */
export function instanceNamed(grid: QueueState, name: InstanceName): InstanceState {
  const known = grid.instances.get(name)
  if (known !== undefined) return known
  if (grid.instances.size >= grid.sweepAt.instances) sweepInstances(grid)
  const limits = Object.hasOwn(grid.options.limitsOf, name) ? grid.options.limitsOf[name] : undefined
  const made: InstanceState = {
    ...openInstanceAccount(grid.ledger, name, { ...grid.options.limits, ...limits }),
    queues: { ranks: [], pools: [], levels: [] },
  }
  grid.instances.set(name, made)
  return made
}

function sweepInstances({ instances, sweepAt, ledger }: QueueState): void {
  for (const one of instances.values()) {
    if (one.unfinished > 0) continue
    instances.delete(one.name)
    ledger.close(one.number)
  }
  sweepAt.instances = Math.max(FEWEST_SWEPT.instances, 2 * instances.size)
}
