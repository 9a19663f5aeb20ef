/**
 * The main thread's side of `record`: packs the facts of one turn of the event loop, sends them at its end, and settles
 * each call when the writer thread reports the requested durability. A transaction may contain a thousand calls, and
 * settling a call runs the code that awaits it. So calls are settled in groups, with other turns in between.
 */
import { type Fault, FaultError } from '../../../base/fault.ts'
import type { Durability, Fact } from '../fact.ts'
import { FactPack } from '../fact-packing.ts'
import type { FromWriter, Packed } from './thread-messages.ts'

/** A pack of this size is sent before the end of the turn. */
const SEND_BYTES = 1024 * 1024
/** The most bytes of one call, far more than a task needs: a call is one transaction. */
const MOST_CALL_BYTES = 64 * 1024 * 1024
/** Calls that are settled per turn of the event loop: a few hundred microseconds of work. */
const AT_ONCE = 64

interface Call {
  readonly number: number
  readonly durability: Durability
  late: readonly string[]
  fault: Fault | undefined
  resolve(late: readonly string[]): void
  reject(error: FaultError): void
}

const NONE: readonly string[] = []

export class RecordQueue {
  readonly #send: (pack: Packed) => void
  readonly #pack = new FactPack()
  #last = 0
  #firstPacked = 1
  #wantsPower = false
  #isScheduled = false
  /** Calls in the order of their numbers: not committed, and committed but not synced as requested. */
  #committing: Call[] = []
  #syncing: Call[] = []
  /** Calls whose outcome is known and that are not settled yet. */
  #known: Call[] = []
  #isSettling = false

  constructor(send: (pack: Packed) => void) {
    this.#send = send
  }

  get waiting(): number {
    return this.#committing.length + this.#syncing.length + this.#known.length
  }

  add(facts: readonly Fact[], durability: Durability): Promise<readonly string[]> {
    try {
      this.#pack.add(facts, MOST_CALL_BYTES)
    } catch (error) {
      return Promise.reject(error)
    }
    const number = ++this.#last
    if (durability === 'power') this.#wantsPower = true
    if (this.#pack.size >= SEND_BYTES) this.flush()
    else if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(() => {
        this.#isScheduled = false
        this.flush()
      })
    }
    return new Promise((resolve, reject) => {
      this.#committing.push({ number, durability, late: NONE, fault: undefined, resolve, reject })
    })
  }

  /** Sends the packed facts. */
  flush(): void {
    if (this.#pack.size === 0) return
    this.#send({ kind: 'facts', first: this.#firstPacked, ...this.#pack.take(), power: this.#wantsPower })
    this.#firstPacked = this.#last + 1
    this.#wantsPower = false
  }

  committed({ upTo, late, failed }: Extract<FromWriter, { kind: 'committed' }>): void {
    const failures = failed.length === 0 ? undefined : new Map(failed.map(({ call, fault }) => [call, fault]))
    const lateIn = late.length === 0 ? undefined : new Map(late.map(({ call, tasks }) => [call, tasks]))
    const first = this.#committing[0]?.number ?? upTo
    for (const call of this.#committing.splice(0, upTo - first + 1)) {
      if (lateIn !== undefined) call.late = lateIn.get(call.number) ?? NONE
      if (failures !== undefined) call.fault = failures.get(call.number)
      const isSettled = call.durability === 'process' || call.fault !== undefined
      ;(isSettled ? this.#known : this.#syncing).push(call)
    }
    this.#settleKnown()
  }

  synced(upTo: number, fault: Fault | undefined): void {
    const later = this.#syncing.findIndex(({ number }) => number > upTo)
    for (const call of this.#syncing.splice(0, later < 0 ? this.#syncing.length : later)) {
      call.fault = fault
      this.#known.push(call)
    }
    this.#settleKnown()
  }

  /** Settles all calls with a known outcome, in this turn. */
  settle(): void {
    this.#settleSome(this.#known.length)
  }

  #settleKnown(): void {
    if (this.#isSettling) return // a later turn continues
    this.#settleSome(AT_ONCE)
    if (this.#known.length === 0) return
    this.#isSettling = true
    setImmediate(() => {
      this.#isSettling = false
      this.#settleKnown()
    })
  }

  #settleSome(most: number): void {
    for (const { fault, late, resolve, reject } of this.#known.splice(0, most)) {
      if (fault === undefined) resolve(late)
      else reject(new FaultError(fault))
    }
  }

  /** The writer thread has ended: whether it has written the open calls is unknown. */
  fail(error: FaultError): void {
    this.settle()
    const open = [...this.#committing, ...this.#syncing]
    this.#committing = []
    this.#syncing = []
    for (const call of open) call.reject(error)
  }
}
