import type { MethodObserver } from '../../grpc/observer.ts'
import { STATUS_NAMES, type StatusCode } from '../../grpc/status.ts'
import { DurationHistogram } from './durations.ts'
import type { Sample } from './exposition.ts'

/** The counters of one method. `started` and `finished` run once per call: plain numbers without lookups. */
export class MethodFigures implements MethodObserver {
  readonly labels: Readonly<Record<string, string>>
  readonly seconds = new DurationHistogram()
  inFlight = 0
  readonly #bytes = new Float64Array(2)
  readonly #codes = new Float64Array(STATUS_NAMES.length)

  constructor(service: string, method: string) {
    this.labels = { service, method }
  }

  started(): void {
    this.inFlight++
  }

  // biome-ignore lint/complexity/useMaxParams: the engine's contract; an object per call would cost more than all of this
  finished(code: StatusCode, durationMs: number, bytesIn: number, bytesOut: number): void {
    this.inFlight--
    this.#bytes[0] = (this.#bytes[0] as number) + bytesIn
    this.#bytes[1] = (this.#bytes[1] as number) + bytesOut
    this.#codes[code] = (this.#codes[code] as number) + 1
    this.seconds.add(durationMs)
  }

  get received(): number {
    return this.#bytes[0] ?? 0
  }

  get sent(): number {
    return this.#bytes[1] ?? 0
  }

  /** OK exists from the start, so that rates can be computed; other codes exist after their first occurrence. */
  *calls(): Generator<Sample> {
    for (const [code, value] of this.#codes.entries()) {
      if (code === 0 || value > 0) yield { labels: { ...this.labels, code: STATUS_NAMES[code] ?? '' }, value }
    }
  }
}
