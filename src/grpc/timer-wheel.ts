import type { Timing } from './http2/timing.ts'

/** An object with a deadline. It contains the links of its list, so that adding and removing it allocate nothing. */
export interface Timed {
  /** The due time, on the wheel's clock. */
  dueAt: number
  wheelNext: Timed | undefined
  wheelPrevious: Timed | undefined
  wheelSlot: number
  onDue(): void
}

const SLOT_MS = 10
const SLOTS = 2048
export const NOT_IN_WHEEL = -1

/**
 * Deadlines of very many calls, nearly all of which end before: a wheel of 10 ms slots, each a linked list. Adding and
 * removing are a few assignments. One timer turns the wheel, only while it is not empty. A deadline beyond one turn (20
 * s) stays in its slot until the turn in which it is due.
 */
export class TimerWheel {
  readonly #timing: Timing
  readonly #slots: (Timed | undefined)[] = new Array<Timed | undefined>(SLOTS).fill(undefined)
  #count = 0
  /** The last slot time that was handled, in units of SLOT_MS. */
  #tick = 0
  #cancel: (() => void) | undefined

  constructor(timing: Timing) {
    this.#timing = timing
  }

  add(timed: Timed): void {
    if (this.#count++ === 0) this.#start()
    // The slot after the due time: never early, at most one slot late.
    const tick = Math.max(this.#tick + 1, Math.ceil(timed.dueAt / SLOT_MS))
    const slot = tick % SLOTS
    const first = this.#slots[slot]
    timed.wheelSlot = slot
    timed.wheelNext = first
    timed.wheelPrevious = undefined
    if (first !== undefined) first.wheelPrevious = timed
    this.#slots[slot] = timed
  }

  remove(timed: Timed): void {
    if (timed.wheelSlot === NOT_IN_WHEEL) return
    const { wheelNext, wheelPrevious } = timed
    if (wheelPrevious === undefined) this.#slots[timed.wheelSlot] = wheelNext
    else wheelPrevious.wheelNext = wheelNext
    if (wheelNext !== undefined) wheelNext.wheelPrevious = wheelPrevious
    timed.wheelSlot = NOT_IN_WHEEL
    timed.wheelNext = undefined
    timed.wheelPrevious = undefined
    this.#count--
  }

  get size(): number {
    return this.#count
  }

  #start(): void {
    this.#tick = Math.floor(this.#timing.now() / SLOT_MS)
    this.#schedule()
  }

  #schedule(): void {
    this.#cancel ??= this.#timing.after(SLOT_MS, () => {
      this.#cancel = undefined
      this.#turn()
    })
  }

  #turn(): void {
    const now = this.#timing.now()
    const target = Math.floor(now / SLOT_MS)
    // After a long stall, one full turn visits every slot; more turns would only visit them again.
    const from = Math.max(this.#tick + 1, target - SLOTS + 1)
    this.#tick = target
    for (let tick = from; tick <= target; tick++) this.#fire(tick % SLOTS, now)
    if (this.#count > 0) this.#schedule()
  }

  #fire(slot: number, now: number): void {
    const due: Timed[] = []
    for (let timed = this.#slots[slot]; timed !== undefined; timed = timed.wheelNext) {
      if (timed.dueAt <= now) due.push(timed)
    }
    for (const timed of due) {
      if (timed.wheelSlot !== slot) continue
      this.remove(timed)
      timed.onDue()
    }
  }
}
