import type { InstanceName } from '../../model/instance-name.ts'
import type { Instant } from '../model/events.ts'
import type { InstanceLimits } from '../model/options.ts'
import type { Heaped } from './lazy-heap.ts'
import type { UsageLedger } from './usage-ledger.ts'

/**
 * Fair shares. Each instance and each invocation has an account of the slot time that it used, in milliseconds divided
 * by its weight; the account with the least usage is served next. A grant charges an estimate, and the end of the attempt
 * corrects the charge. An excess charge becomes a credit for later charges, because the heaps rely on usage that only
 * grows.
 */
export interface UsageAccount {
  readonly ledger: UsageLedger
  readonly number: number
}

export const accountUsage = ({ ledger, number }: UsageAccount): number => ledger.get(number)

export interface InstanceAccount extends UsageAccount, Heaped {
  readonly name: InstanceName
  readonly limits: InstanceLimits
  readonly weight: number
  queued: number
  /** Assigned, running or stopping. */
  active: number
  /** Queued, active, or waiting for a retry. */
  unfinished: number
  readonly invocations: Map<string, InvocationState>
  /** The usage of the invocation that was served last. A new invocation starts with this usage. */
  clock: number
  /** Token bucket of the submission rate. */
  tokens: number
  tokensAt: Instant
}

export interface InvocationState extends UsageAccount {
  readonly name: string
  readonly instance: InstanceAccount
  queued: number
  unfinished: number
}

export const openInstanceAccount = (
  ledger: UsageLedger,
  name: InstanceName,
  limits: InstanceLimits,
): InstanceAccount => ({
  ledger,
  number: ledger.open(),
  name,
  limits,
  weight: Math.max(limits.weight ?? 1, 1e-6),
  heaped: false,
  queued: 0,
  active: 0,
  unfinished: 0,
  invocations: new Map(),
  clock: 0,
  tokens: burstOf(limits),
  tokensAt: 0,
})

/** The token bucket holds the tokens of one second, and at least one. */
export const burstOf = ({ perSecond }: InstanceLimits): number => Math.max(1, perSecond ?? 1)

export function openInvocation(instance: InstanceAccount, name: string): InvocationState {
  const known = instance.invocations.get(name)
  if (known !== undefined) return known
  const { ledger } = instance
  const made: InvocationState = { ledger, number: ledger.open(), name, instance, queued: 0, unfinished: 0 }
  instance.invocations.set(name, made)
  return made
}

/** Raises the usage of an account that was idle: idle time earns no share. */
export const catchUp = (account: UsageAccount, floor: number): void => {
  account.ledger.raise(account.number, floor)
}

/** The accounts that pay for a task. */
export interface Payers {
  readonly invocation: InvocationState
  readonly instance: InstanceAccount
}

export function charge({ invocation, instance }: Payers, slotMs: number): void {
  instance.clock = Math.max(instance.clock, accountUsage(invocation))
  invocation.ledger.add(invocation.number, slotMs)
  instance.ledger.add(instance.number, slotMs / instance.weight)
}

/** Corrects an estimated charge: a positive difference is charged, a negative one becomes a credit. */
export function correctCharge({ invocation, instance }: Payers, slotMs: number): void {
  correct(invocation, slotMs)
  correct(instance, slotMs / instance.weight)
}

function correct({ ledger, number }: UsageAccount, amount: number): void {
  if (amount >= 0) ledger.add(number, amount)
  else ledger.credit(number, -amount)
}
