import type { StepCounts, StepStatus, WorkflowRunState } from './driver/workflow-run.ts'

export type RunEvent =
  | { readonly kind: 'submission'; readonly state: WorkflowRunState }
  | { readonly kind: 'step'; readonly step: StepStatus }

/** An event with the id from which a listener can continue. */
export interface NumberedEvent {
  readonly id: string
  readonly event: RunEvent
  readonly counts: StepCounts
}

export interface RunEventListener {
  /**
   * The next event; undefined when there is none. `behind` when events were dropped: the reader must read the status.
   */
  next(): NumberedEvent | 'behind' | undefined
  /** All events were read, and no more will follow. */
  isEnded(): boolean
  /** No more events will be added; some may still be unread. */
  isComplete(): boolean
  close(): void
}

const MOST_KEPT = 5000

/** The newest events of one run. Ids belong to one start of the server: after a restart all readers begin anew. */
export class RunEvents {
  readonly #epoch: string
  readonly #kept: NumberedEvent[] = []
  readonly #listeners = new Set<() => void>()
  #first = 0
  #isClosed = false

  constructor(epoch: string) {
    this.#epoch = epoch
  }

  add(event: RunEvent, counts: StepCounts): void {
    const number = this.#first + this.#kept.length
    this.#kept.push({ id: `${this.#epoch}-${number}`, event, counts })
    if (this.#kept.length > MOST_KEPT) {
      this.#kept.shift()
      this.#first += 1
    }
    for (const wake of this.#listeners) wake()
  }

  close(): void {
    this.#isClosed = true
    for (const wake of this.#listeners) wake()
  }

  /** `after` is the id of the last event that the client received; `wake` is called when there are more. */
  listen(after: string | undefined, wake: () => void): RunEventListener {
    const last = this.#numberOf(after)
    let at = last === undefined ? -1 : last + 1
    this.#listeners.add(wake)
    const end = (): number => this.#first + this.#kept.length
    return {
      next: () => {
        if (at < this.#first) {
          at = end() // the status covers all dropped events
          return 'behind'
        }
        const event = this.#kept[at - this.#first]
        if (event !== undefined) at += 1
        return event
      },
      isEnded: () => this.#isClosed && at >= end(),
      isComplete: () => this.#isClosed,
      close: () => void this.#listeners.delete(wake),
    }
  }

  #numberOf(id: string | undefined): number | undefined {
    const [, epoch, digits] = /^(.{1,50})-(\d{1,15})$/.exec(id ?? '') ?? []
    const number = Number(digits)
    const isKept = epoch === this.#epoch && number + 1 >= this.#first && number < this.#first + this.#kept.length
    return isKept ? number : undefined
  }
}
