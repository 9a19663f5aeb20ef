import type { Amounts } from '../model/amounts.ts'
import type { Instant } from '../model/events.ts'
import type { Health } from './health.ts'

const WIDTH = 8

/** The gauges of all workers, one row each. Row 0 belongs to no worker: it absorbs writes to a worker that is gone. */
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
 * The values of a worker that change with every task: its free amounts and its health. V8 stores a fraction or a large
 * number outside of its object, so each would be a separate heap object; here they share one typed array.
 */
export class Gauges implements Amounts, Health {
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
    return this.#table.values[this.#row] as number
  }
  set cpu(value: number) {
    this.#table.values[this.#row] = value
  }
  get memory(): number {
    return this.#table.values[this.#row + 1] as number
  }
  set memory(value: number) {
    this.#table.values[this.#row + 1] = value
  }
  get disk(): number {
    return this.#table.values[this.#row + 2] as number
  }
  set disk(value: number) {
    this.#table.values[this.#row + 2] = value
  }
  get errorRate(): number {
    return this.#table.values[this.#row + 3] as number
  }
  set errorRate(value: number) {
    this.#table.values[this.#row + 3] = value
  }
  get errorsAt(): Instant {
    return this.#table.values[this.#row + 4] as number
  }
  set errorsAt(value: Instant) {
    this.#table.values[this.#row + 4] = value
  }
  get samples(): number {
    return this.#table.values[this.#row + 5] as number
  }
  set samples(value: number) {
    this.#table.values[this.#row + 5] = value
  }
  get latencyMs(): number {
    return this.#table.values[this.#row + 6] as number
  }
  set latencyMs(value: number) {
    this.#table.values[this.#row + 6] = value
  }
  get load(): number {
    return this.#table.values[this.#row + 7] as number
  }
  set load(value: number) {
    this.#table.values[this.#row + 7] = value
  }
}
