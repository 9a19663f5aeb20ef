import type { Clock } from '../../base/clock.ts'

/** Less than the kernel takes to cool down. */
const TURN_MS = 6
/** So long after it was last wanted it is let go cold. */
const TURNS = 40

/**
 * To move a process into a control group the kernel has to stop all forks of the machine for a moment, and prepares
 * for that by waiting until every processor has noticed: 6 to 18 ms. If it was done a few milliseconds ago it
 * takes 0.01. So while runs come, or have been announced, this process is moved again and again to where it
 * already is, by a thread that may wait.
 */
export class Warmth {
  readonly #move: () => Promise<void>
  readonly #after: Clock['after']
  #turnsLeft = 0
  /** Resolves when it has become warm; undefined while it is cold and nobody heats. */
  #heating: Promise<void> | undefined
  #isWarm = false

  constructor(move: () => Promise<void>, after: Clock['after']) {
    this.#move = move
    this.#after = after
  }

  /** Undefined when it is warm; else resolves when it is. */
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
