import type { InstanceName } from '../../model/instance-name.ts'
import type { Instant } from '../model/events.ts'
import type { InstanceLimits } from '../model/options.ts'
import { InstanceQueueTable } from '../queue/instance-queue-table.ts'
import type { Task } from '../queue/task.ts'
import type { Heaped } from './lazy-heap.ts'
import type { UsageLedger } from './usage-ledger.ts'

/**
 * Who is owed how much. Served time is charged in slot-milliseconds, divided by the weight; whoever has the least is
 * next. It is charged with an estimate when a task is handed out and put right when it ends: what was too much is kept
 * as credit and pays for what comes next, because everything that is ordered by these times relies on them to grow.
 */
export interface UsageAccount {
  readonly ledger: UsageLedger
  readonly number: number
}

export const servedOf = ({ ledger, number }: UsageAccount): number => ledger.get(number)

export interface InstanceState extends UsageAccount, Heaped {
  readonly name: InstanceName
  readonly limits: InstanceLimits
  readonly weight: number
  queued: number
  /** Assigned, running or stopping. */
  active: number
  /** All of these, and those between two tries. */
  unfinished: number
  /** Where its tasks wait. */
  readonly instanceQueues: InstanceQueueTable
  readonly invocations: Map<string, InvocationState>
  /** How far its invocations have been served: where one that is new begins. */
  clock: number
  tokens: number
  tokensAt: Instant
}

export interface InvocationState extends UsageAccount {
  readonly name: string
  readonly instance: InstanceState
  queued: number
  unfinished: number
}

export const makeInstanceState = (ledger: UsageLedger, name: InstanceName, limits: InstanceLimits): InstanceState => ({
  ledger,
  number: ledger.open(),
  name,
  limits,
  weight: Math.max(limits.weight ?? 1, 1e-6),
  heaped: false,
  isEmpty() {
    return this.queued === 0
  },
  queued: 0,
  active: 0,
  unfinished: 0,
  instanceQueues: new InstanceQueueTable(),
  invocations: new Map(),
  clock: 0,
  tokens: burstOf(limits),
  tokensAt: 0,
})

/** A second's worth, and at least one. */
export const burstOf = ({ perSecond }: InstanceLimits): number => Math.max(1, perSecond ?? 1)

export function openInvocation(instance: InstanceState, name: string): InvocationState {
  const known = instance.invocations.get(name)
  if (known !== undefined) return known
  const { ledger } = instance
  const made: InvocationState = { ledger, number: ledger.open(), name, instance, queued: 0, unfinished: 0 }
  instance.invocations.set(name, made)
  return made
}

/** What it had coming from before it went idle is not saved up: it begins where the others are. */
export const catchUp = (share: UsageAccount, floor: number): void => {
  share.ledger.raise(share.number, floor)
}

export function charge(task: Task, slotMs: number): void {
  const { invocation, instance } = task
  instance.clock = Math.max(instance.clock, servedOf(invocation))
  invocation.ledger.add(invocation.number, slotMs)
  instance.ledger.add(instance.number, slotMs / instance.weight)
}

/** Puts right what was charged: more when it took longer, credit when it did not. */
export function correctCharge(task: Task, slotMs: number): void {
  correct(task.invocation, slotMs)
  correct(task.instance, slotMs / task.instance.weight)
}

function correct({ ledger, number }: UsageAccount, amount: number): void {
  if (amount >= 0) ledger.add(number, amount)
  else ledger.credit(number, -amount)
}
