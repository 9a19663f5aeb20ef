/**
 * The near end of `record`: packs what one loop turn brings, sends it off at the turn's end, and settles each call when
 * the writer says that it is as durable as it was to be. A transaction may hold a thousand calls, and what follows from
 * each is done in the turn that settles it: so they are settled some at a time, and others have their turns in between.
 */
import { type Fault, FaultError } from '../../../base/fault.ts'
import type { Durability, Fact } from '../fact.ts'
import { FactPack } from '../fact-packing.ts'
import type { FromWriter, Packed } from './thread-messages.ts'

/** Sent without waiting for the end of the turn. */
const SEND_BYTES = 1024 * 1024
/** More than any task may need; one call is one transaction at least. */
const MOST_CALL_BYTES = 64 * 1024 * 1024
/** Calls that are settled in one loop turn: some hundred microseconds of what follows from them. */
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
  #committing = new Line<Call>()
  #syncing = new Line<Call>()
  /** What came of them is known, and not yet told. */
  #known = new Line<Call>()
  #isTelling = false

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

  /** Sends what is packed. */
  flush(): void {
    if (this.#pack.size === 0) return
    this.#send({ kind: 'facts', first: this.#firstPacked, ...this.#pack.take(), power: this.#wantsPower })
    this.#firstPacked = this.#last + 1
    this.#wantsPower = false
  }

  committed({ upTo, late, failed }: Extract<FromWriter, { kind: 'committed' }>): void {
    const failures = failed.length === 0 ? undefined : new Map(failed.map(({ call, fault }) => [call, fault]))
    const lateIn = late.length === 0 ? undefined : new Map(late.map(({ call, tasks }) => [call, tasks]))
    for (let call = this.#committing.head; call !== undefined && call.number <= upTo; call = this.#committing.head) {
      this.#committing.shift()
      if (lateIn !== undefined) call.late = lateIn.get(call.number) ?? NONE
      if (failures !== undefined) call.fault = failures.get(call.number)
      const isSettled = call.durability === 'process' || call.fault !== undefined
      ;(isSettled ? this.#known : this.#syncing).push(call)
    }
    this.#tell()
  }

  synced(upTo: number, fault: Fault | undefined): void {
    for (let call = this.#syncing.head; call !== undefined && call.number <= upTo; call = this.#syncing.head) {
      this.#syncing.shift()
      call.fault = fault
      this.#known.push(call)
    }
    this.#tell()
  }

  /** Tells all who are still to be told, now. */
  settle(): void {
    while (this.#known.length > 0) this.#tellSome()
  }

  #tell(): void {
    if (this.#isTelling) return // in their turn
    this.#tellSome()
    if (this.#known.length === 0) return
    this.#isTelling = true
    setImmediate(() => {
      this.#isTelling = false
      this.#tell()
    })
  }

  #tellSome(): void {
    for (let i = 0; i < AT_ONCE; i++) {
      const call = this.#known.shift()
      if (call === undefined) return
      if (call.fault === undefined) call.resolve(call.late)
      else call.reject(new FaultError(call.fault))
    }
  }

  /** The writer is gone: whether what waits for it was written is not known. */
  fail(error: FaultError): void {
    this.settle()
    for (const line of [this.#committing, this.#syncing]) {
      for (let call = line.shift(); call !== undefined; call = line.shift()) call.reject(error)
    }
  }
}

/** First in, first out, without moving what remains at each step. */
class Line<T> {
  #items: (T | undefined)[] = []
  #start = 0

  get length(): number {
    return this.#items.length - this.#start
  }

  get head(): T | undefined {
    return this.#items[this.#start]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    const item = this.#items[this.#start]
    if (item === undefined) return undefined
    this.#items[this.#start++] = undefined
    if (this.#start === this.#items.length) {
      this.#items = []
      this.#start = 0
    } else if (this.#start >= 1024 && this.#start * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#start)
      this.#start = 0
    }
    return item
  }
}
