import type { Timing } from './http2/timing.ts'

/** Something with a deadline. It sits in the wheel by its own links, so that joining and leaving allocate nothing. */
export interface Timed {
  /** On the wheel's clock. */
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
 * Deadlines for very many calls, nearly all of which end before theirs: a wheel of 10 ms slots, each a linked list.
 * Joining and leaving are a few assignments; one timer turns the wheel, only while anything is in it. A deadline
 * beyond one turn (20 s) stays in its slot until the turn in which it is due.
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
    // After a long stall one full turn visits every slot; more would only visit them again.
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
