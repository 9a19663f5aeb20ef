import { fencingText, sameFencing } from '../model/fencing.ts'
import type { Effect } from './model/effects.ts'
import type { AttemptRef, GridEvent, Register, Submit } from './model/events.ts'
import { DEFAULT_OPTIONS } from './model/options.ts'

type Leased = Extract<Effect, { kind: 'leased' }>

/** The state of one task, derived from the effects. */
interface Account {
  readonly submitted: Submit
  lease: Leased | undefined
  staged: boolean
  end: Extract<Effect, { kind: 'finished' }> | undefined
  cancelAsked: boolean
}

/** An attempt whose lease the server ended and whose end the worker has not confirmed. */
interface Unconfirmed {
  readonly worker: string
  readonly fencing: string
  readonly staged: boolean
  readonly until: number
}

/** Follows all effects, and throws on the first one that is inconsistent with the effects before it. */
export class Witness {
  readonly tasks = new Map<string, Account>()
  readonly workers = new Map<string, Register>()
  /** All attempts so far, for late reports. */
  readonly attempts: (AttemptRef & { worker: string })[] = []
  readonly #fencings = new Set<string>()
  #lastCounter = 0
  #coming: Register | undefined
  #unconfirmed: Unconfirmed[] = []
  #now = 0

  submitted(event: Submit): void {
    if (!this.tasks.has(event.task))
      this.tasks.set(event.task, {
        submitted: event,
        lease: undefined,
        staged: false,
        end: undefined,
        cancelAsked: false,
      })
  }

  /** The new registration counts from its `worker` effect on: the tasks of the old one are queued again before it. */
  registers(event: Register): void {
    this.#coming = event
  }

  cancelAsked(task: string): void {
    const account = this.tasks.get(task)
    if (account !== undefined && account.end === undefined) account.cancelAsked = true
  }

  /** Checks that a report with an old fencing number does not change the task. */
  reports({ task, fencing }: AttemptRef, happens: () => void): void {
    const account = this.tasks.get(task)
    const before = account?.lease
    happens()
    if (before !== undefined && !sameFencing(before.fencing, fencing) && account?.lease !== before)
      throw new Error(`${task} was changed by a report under ${fencingText(fencing)}`)
  }

  /** Removes the unconfirmed attempts that the event confirms or that have expired. */
  hears(event: GridEvent, now: number): void {
    const isOver = ({ worker, fencing, until }: Unconfirmed): boolean => {
      if (event.kind === 'tick') return until <= now
      if (!('worker' in event) || event.worker !== worker) return false
      if (event.kind === 'finished' || event.kind === 'returned') return fencingText(event.fencing) === fencing
      return event.kind === 'heartbeat' && event.holds !== undefined
    }
    this.#unconfirmed = this.#unconfirmed.filter((one) => !isOver(one))
  }

  sees(effects: readonly Effect[], now: number): void {
    this.#now = now
    for (const effect of effects) this.#see(effect)
    this.#countRoom()
  }

  unfinished(): string[] {
    return [...this.tasks].filter(([, { end }]) => end === undefined).map(([task]) => task)
  }

  held(): Leased[] {
    return [...this.tasks.values()].flatMap(({ lease }) => lease ?? [])
  }

  isStaged(task: string): boolean {
    return this.tasks.get(task)?.staged ?? false
  }

  #see(effect: Effect): void {
    if (effect.kind === 'worker') {
      if (effect.state === 'OFFLINE') {
        this.workers.delete(effect.worker)
        this.#unconfirmed = this.#unconfirmed.filter(({ worker }) => worker !== effect.worker)
      }
      if (effect.state === 'REGISTERING' && this.#coming !== undefined) this.workers.set(effect.worker, this.#coming)
      return
    }
    if (effect.kind === 'merged') this.tasks.delete(effect.submitted)
    if (effect.kind === 'refused' && effect.why !== 'duplicate') this.tasks.delete(effect.task)
    if (effect.kind === 'order' || effect.kind === 'refused' || effect.kind === 'superseded') return
    const account = this.tasks.get(effect.task)
    if (account === undefined) {
      if (effect.kind === 'stop' && effect.why === 'superseded') return
      throw new Error(`${effect.kind} for ${effect.task}, which was not submitted`)
    }
    if (account.end !== undefined && !(effect.kind === 'stop' && effect.why === 'superseded'))
      throw new Error(`${effect.kind} for ${effect.task}, which is ${account.end.state}`)
    this.#follow(account, effect)
  }

  #follow(account: Account, effect: Exclude<Effect, { kind: 'worker' | 'order' | 'refused' | 'superseded' }>): void {
    if (effect.kind === 'stop') this.#awaitConfirmation(account, effect)
    if (effect.kind === 'leased') this.#lease(account, effect)
    else if (effect.kind === 'begin') account.staged = false
    else if (effect.kind === 'queued' || effect.kind === 'retrying') account.lease = undefined
    else if (effect.kind === 'stop' && effect.why === 'recalled') account.lease = undefined
    else if (effect.kind === 'finished') {
      account.lease = undefined
      account.end = effect
      if (account.cancelAsked && effect.state !== 'cancelled')
        throw new Error(`${effect.task} was cancelled, and is ${effect.state}`)
      if (!account.cancelAsked && effect.state === 'cancelled')
        throw new Error(`${effect.task} ended as cancelled without a cancellation`)
    }
  }

  #awaitConfirmation({ lease, staged }: Account, { worker, fencing, why }: Extract<Effect, { kind: 'stop' }>): void {
    if (why === 'cancelled' || lease === undefined || !sameFencing(lease.fencing, fencing)) return
    if (this.workers.get(worker)?.pulls) return // a pulling worker counts its slots itself
    const until = this.#now + DEFAULT_OPTIONS.stopGraceMs
    this.#unconfirmed.push({ worker, fencing: fencingText(fencing), staged, until })
  }

  #lease(account: Account, effect: Leased): void {
    const { task, worker, fencing } = effect
    if (account.lease !== undefined) throw new Error(`${task} is on ${account.lease.worker} and on ${worker}`)
    if (account.cancelAsked) throw new Error(`${task} was cancelled and is leased`)
    if (!this.workers.has(worker)) throw new Error(`${task} was leased to ${worker}, which is not registered`)
    if (this.#fencings.has(fencingText(fencing)) || fencing.counter <= this.#lastCounter)
      throw new Error(`the fencing number ${fencingText(fencing)} is reused`)
    this.#fencings.add(fencingText(fencing))
    this.#lastCounter = fencing.counter
    this.attempts.push({ task, worker, fencing })
    account.lease = effect
    account.staged = effect.prefetch
  }

  /** Checks that no worker has more attempts, unconfirmed ones included, than it offered, or tasks that do not fit it. */
  #countRoom(): void {
    const used = this.#usedRoom()
    for (const { worker, staged } of this.#unconfirmed) {
      const sum = used.get(worker)
      if (sum !== undefined) sum[staged ? 'staged' : 'slots']++
    }
    for (const [id, sum] of used) {
      const worker = this.workers.get(id)
      if (worker === undefined) throw new Error(`${id} is lost and still holds tasks`)
      if (sum.slots > worker.slots || sum.staged > (worker.prefetch ?? 0) || sum.cpu > (worker.resources.cpu ?? 1e9))
        throw new Error(`${id} has ${JSON.stringify(sum)}, and offers ${JSON.stringify(worker)}`)
    }
  }

  #usedRoom(): Map<string, { slots: number; staged: number; cpu: number }> {
    const used = new Map<string, { slots: number; staged: number; cpu: number }>()
    for (const { lease, staged, submitted } of this.tasks.values()) {
      if (lease === undefined) continue
      const sum = used.get(lease.worker) ?? { slots: 0, staged: 0, cpu: 0 }
      used.set(lease.worker, sum)
      if (staged) sum.staged++
      else {
        sum.slots++
        sum.cpu += submitted.demands.cpu ?? 0
      }
      this.#mustOffer(lease.worker, submitted)
    }
    return used
  }

  #mustOffer(id: string, { properties, refusesPreemptible, task }: Submit): void {
    const worker = this.workers.get(id)
    if (worker === undefined) return
    for (const { name, value } of properties)
      if (!worker.properties.some((one) => one.name === name && one.value === value))
        throw new Error(`${task} needs ${name}=${value}, which ${id} does not offer`)
    if (refusesPreemptible && worker.preemptible) throw new Error(`${task} refuses ${id}`)
  }
}
