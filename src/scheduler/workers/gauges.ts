import type { Instant } from '../model/events.ts'
import type { Amounts } from '../model/requirements.ts'

/** The weight of the latest attempt in the averages. */
const LEARNING = 0.2
/** The error rate decays with time: otherwise a worker that gets few tasks could not recover. */
const HALF_LIFE_MS = 60_000
/** With fewer faults, one fault in two attempts would degrade the worker. */
const FEWEST_FAULTS = 3
const DEGRADED = { errorRate: 0.4, load: 0.98 }
/** Below the limits in `DEGRADED`, so that a worker near a limit does not alternate between the states. */
const RECOVERED = { errorRate: 0.2, load: 0.9 }

/** The positions of the values in a row. */
const CPU = 0
const MEMORY = 1
const DISK = 2
const ERROR_RATE = 3
const ERRORS_AT = 4
const FAULTS = 5
const LATENCY_MS = 6
const LOAD = 7
const WIDTH = 8

/** The gauges of all workers, one row each. Row 0 belongs to no worker: it absorbs writes for a removed worker. */
export class GaugeTable {
  values = new Float64Array(64 * WIDTH)
  readonly #free: number[] = []
  #next = WIDTH

  open(): number {
    const row = this.#free.pop() ?? this.#next
    if (row === this.#next) this.#next += WIDTH
    if (row >= this.values.length) {
      const longer = new Float64Array(2 * this.values.length)
      longer.set(this.values)
      this.values = longer
    }
    return row
  }

  close(row: number): void {
    if (row > 0) this.#free.push(row)
  }
}

/**
 * The values of a worker that change with every task: its free amounts, and its health as a machine. V8 stores a
 * fraction or a large number outside of its object, so each would be a separate heap object; here they share one typed
 * array, in which the rows of ten thousand workers lie close together. The exit codes of commands do not count as
 * errors: a worker may run failing tests all day.
 */
export class Gauges implements Amounts {
  readonly #table: GaugeTable
  #row: number

  constructor(table: GaugeTable, total: Amounts, now: Instant) {
    this.#table = table
    this.#row = table.open()
    table.values.set([total.cpu, total.memory, total.disk, 0, now, 0, 0, 0], this.#row)
  }

  close(): void {
    this.#table.close(this.#row)
    this.#row = 0
  }

  get cpu(): number {
    return this.#table.values[this.#row + CPU] as number
  }
  get memory(): number {
    return this.#table.values[this.#row + MEMORY] as number
  }
  get disk(): number {
    return this.#table.values[this.#row + DISK] as number
  }
  /** The average time from lease to start. */
  get latencyMs(): number {
    return this.#table.values[this.#row + LATENCY_MS] as number
  }
  /** As reported by the worker, from 0 to 1; 0 when it reports none. */
  get load(): number {
    return this.#table.values[this.#row + LOAD] as number
  }
  set load(value: number) {
    this.#table.values[this.#row + LOAD] = value
  }

  /** Reserves the amounts of a task. */
  take({ cpu, memory, disk }: Amounts): void {
    this.#add(-cpu, -memory, -disk)
  }

  giveBack({ cpu, memory, disk }: Amounts): void {
    this.#add(cpu, memory, disk)
  }

  #add(cpu: number, memory: number, disk: number): void {
    const { values } = this.#table
    const row = this.#row
    // Rounded, so that adding and subtracting tenths of a processor returns to the same number.
    values[row + CPU] = Math.round(((values[row + CPU] as number) + cpu) * 1e6) / 1e6
    values[row + MEMORY] = (values[row + MEMORY] as number) + memory
    values[row + DISK] = (values[row + DISK] as number) + disk
  }

  noteLatency(ms: number): void {
    const before = this.latencyMs
    this.#table.values[this.#row + LATENCY_MS] = before + LEARNING * (ms - before)
  }

  noteAttempt(fault: boolean, now: Instant): void {
    const { values } = this.#table
    const row = this.#row
    if (!fault && values[row + ERROR_RATE] === 0) return
    const before = this.errorRateAt(now)
    values[row + ERROR_RATE] = before + LEARNING * ((fault ? 1 : 0) - before)
    values[row + ERRORS_AT] = now
    if (fault) values[row + FAULTS] = (values[row + FAULTS] as number) + 1
  }

  /** The share of recent attempts that ended in a fault of the grid. */
  errorRateAt(now: Instant): number {
    const errorRate = this.#table.values[this.#row + ERROR_RATE] as number
    return errorRate === 0
      ? 0
      : errorRate * 0.5 ** ((now - (this.#table.values[this.#row + ERRORS_AT] as number)) / HALF_LIFE_MS)
  }

  /** Describes what is wrong; undefined for a healthy worker. For a degraded worker the stricter limits apply. */
  problem(
    now: Instant,
    { degraded, byLoad }: { readonly degraded: boolean; readonly byLoad: boolean },
  ): string | undefined {
    const limits = degraded ? RECOVERED : DEGRADED
    const errorRate = this.errorRateAt(now)
    if (errorRate > limits.errorRate && (this.#table.values[this.#row + FAULTS] as number) >= FEWEST_FAULTS)
      return `${Math.round(errorRate * 100)} % of its recent attempts ended in a fault of the grid`
    if (byLoad && this.load > limits.load) return `its machine reports a load of ${Math.round(this.load * 100)} %`
    return undefined
  }
}
