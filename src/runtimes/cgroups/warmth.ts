import type { Clock } from '../../base/clock.ts'

/** Shorter than the time after which the kernel's fast path expires. */
const TURN_MS = 6
/** The time after the last use until the moves stop. */
const TURNS = 40

/**
 * Moving a process into a control group makes the kernel stop all forks of the machine (cgroup_threadgroup_rwsem), and
 * it first waits for an RCU grace period: 6 to 18 ms. A move within a few milliseconds of the last one takes 0.01 ms.
 * So while runs are expected, a thread of the pool keeps moving this process to the group it is already in.
 */
export class Warmth {
  readonly #move: () => Promise<void>
  readonly #after: Clock['after']
  #turnsLeft = 0
  /** Resolves when the fast path is active; undefined while no moves are under way. */
  #heating: Promise<void> | undefined
  #isWarm = false

  constructor(move: () => Promise<void>, after: Clock['after']) {
    this.#move = move
    this.#after = after
  }

  /** Undefined when the fast path is active; otherwise resolves when it is. */
  ready(): Promise<void> | undefined {
    this.expect()
    return this.#isWarm ? undefined : this.#heating
  }

  expect(): void {
    this.#turnsLeft = TURNS
    this.#heating ??= this.#heat()
  }

  close(): void {
    this.#turnsLeft = 0
  }

  async #heat(): Promise<void> {
    await this.#move()
    this.#isWarm = true
    void this.#keepOn()
  }

  async #keepOn(): Promise<void> {
    while (this.#turnsLeft > 0) {
      this.#turnsLeft--
      await new Promise<void>((resolve) => void this.#after(TURN_MS, resolve))
      if (this.#turnsLeft > 0) await this.#move()
    }
    this.#isWarm = false
    this.#heating = undefined
  }
}
