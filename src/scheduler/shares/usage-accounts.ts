import type { InstanceName } from '../../model/instance-name.ts'
import type { Instant } from '../model/events.ts'
import type { InstanceLimits } from '../model/options.ts'

/**
 * The usage of all instances and invocations, in one flat array indexed by account number. All heaps are ordered by
 * these figures, and a flat array shows whether a heap entry is stale without loading the instance or invocation. A
 * usage only grows, except when an account number is reused.
 */
export class UsageLedger {
  /** Usage and credit of each account, side by side because a charge writes both. */
  #figures = new Float64Array(2048)
  readonly #free: number[] = []
  #next = 0

  open(): number {
    const number = this.#free.pop() ?? this.#next++
    if (2 * number >= this.#figures.length) {
      const longer = new Float64Array(2 * this.#figures.length)
      longer.set(this.#figures)
      this.#figures = longer
    }
    this.#figures[2 * number] = 0
    this.#figures[2 * number + 1] = 0
    return number
  }

  close(number: number): void {
    this.#free.push(number)
  }

  get(number: number): number {
    return this.#figures[2 * number] ?? 0
  }

  /** Raises the usage to `floor` if it is lower. */
  raise(number: number, floor: number): void {
    if (this.get(number) < floor) this.#figures[2 * number] = floor
  }

  /**
   * Charges an amount. The account's credit pays first; a negative amount becomes credit, so that the usage only grows.
   */
  add(number: number, amount: number): void {
    const figures = this.#figures
    const credit = figures[2 * number + 1] as number
    const paid = Math.min(credit, amount)
    figures[2 * number + 1] = credit - paid
    figures[2 * number] = (figures[2 * number] as number) + (amount - paid)
  }
}

/** An item of a heap that is ordered by usage. */
export interface Heaped {
  /** Whether a heap holds the item; set by the heap. */
  heaped: boolean
  /** The number of the account in the ledger that orders the item. */
  readonly number: number
}

/**
 * Fair shares. Each instance and each invocation has an account of the slot time that it used, in milliseconds divided
 * by its weight; the account with the least usage is served next. A grant charges an estimate, and the end of the
 * attempt corrects the charge. An excess charge becomes a credit for later charges, because the heaps rely on usage
 * that only grows.
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

/** Raises the usage of an account that was idle: an account earns no share while it is idle. */
export const catchUp = (account: UsageAccount, floor: number): void => {
  account.ledger.raise(account.number, floor)
}

/** The accounts that pay for a task. */
export interface Payers {
  readonly invocation: InvocationState
  readonly instance: InstanceAccount
}

export function charge(payers: Payers, slotMs: number): void {
  const { instance, invocation } = payers
  instance.clock = Math.max(instance.clock, accountUsage(invocation))
  correctCharge(payers, slotMs)
}

/** Corrects an estimated charge: a positive difference is charged, a negative one becomes a credit. */
export function correctCharge({ invocation, instance }: Payers, slotMs: number): void {
  invocation.ledger.add(invocation.number, slotMs)
  instance.ledger.add(instance.number, slotMs / instance.weight)
}
