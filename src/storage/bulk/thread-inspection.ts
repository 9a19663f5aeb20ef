import type { FaultError } from '../../base/fault.ts'
import type { Inspected, Inspection } from './bulk-pool.ts'
import type { ToBulkThread } from './thread-messages.ts'

/** The interface to the thread of an inspection, and its slabs. */
interface Thread {
  send(message: ToBulkThread): void
  /** Returns -1 when no slab is free; `onSlab` is called later. */
  takeSlab(inspection: ThreadInspection): number
  /** Whether few slabs are free: partly filled slabs must then be sent. */
  readonly hasFewSlabs: boolean
  giveSlab(slab: number): void
  slab(number: number): Uint8Array
  forget(id: number): void
}

/** The most slabs of one blob at the thread: one is filled while another is hashed. */
const IN_FLIGHT = 2

/**
 * The main thread's side of the inspection of one blob: copies pieces into slabs, and sends each slab when it is full.
 */
export class ThreadInspection implements Inspection {
  readonly #thread: Thread
  readonly #id: number
  #slab = -1
  #filled = 0
  #inFlight = 0
  #failure: FaultError | undefined
  #answer: Inspected | undefined
  #isAnswered = false
  #wake: (() => void) | undefined

  constructor(thread: Thread, begin: Extract<ToBulkThread, { kind: 'begin' }>) {
    this.#thread = thread
    this.#id = begin.id
    thread.send(begin)
  }

  update(bytes: Uint8Array): void | Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const at = this.#fill(bytes, 0)
    if (at < bytes.length) return this.#updateRest(bytes, at)
    this.#keepNoneOfFew()
  }

  /** Called for the first waiting inspection when a slab is free again. */
  onSlab(): void {
    this.#wake?.()
  }

  async finish(): Promise<Inspected | undefined> {
    if (this.#filled > 0) this.#send()
    this.#thread.send({ kind: 'end', id: this.#id })
    while (!this.#isAnswered && this.#failure === undefined) await this.#change()
    this.#end()
    if (this.#failure !== undefined) throw this.#failure
    return this.#answer
  }

  cancel(): void {
    if (this.#isAnswered || this.#failure !== undefined) return
    this.#thread.send({ kind: 'cancel', id: this.#id })
    this.#end()
  }

  used(): void {
    this.#inFlight--
    this.#keepNoneOfFew()
    this.#wake?.()
  }

  found(answer: Inspected | undefined): void {
    this.#isAnswered = true
    this.#answer = answer
    this.#wake?.()
  }

  fail(failure: FaultError): void {
    this.#failure = failure
    this.#wake?.()
  }

  /** The promise is the back pressure: until it resolves, the caller must not change the bytes. */
  async #updateRest(rest: Uint8Array, from: number): Promise<void> {
    for (let at = from; at < rest.length; ) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isAnswered) return // already refused: the rest makes no difference
      const filled = this.#fill(rest, at)
      if (filled === at) await this.#change()
      at = filled
    }
    this.#keepNoneOfFew()
  }

  /** Sends a partly filled slab when few are free, so that a slow upload does not make others wait. */
  #keepNoneOfFew(): void {
    if (this.#filled > 0 && this.#inFlight < IN_FLIGHT && this.#thread.hasFewSlabs) this.#send()
  }

  /** Copies the bytes that fit without waiting, and returns how far it came. */
  #fill(bytes: Uint8Array, from: number): number {
    let at = from
    while (at < bytes.length && this.#inFlight < IN_FLIGHT) {
      if (this.#slab === -1) this.#slab = this.#thread.takeSlab(this)
      if (this.#slab === -1) return at
      const slab = this.#thread.slab(this.#slab)
      const take = Math.min(slab.length - this.#filled, bytes.length - at)
      slab.set(at === 0 && take === bytes.length ? bytes : bytes.subarray(at, at + take), this.#filled)
      this.#filled += take
      at += take
      if (this.#filled === slab.length) this.#send()
    }
    return at
  }

  #send(): void {
    this.#thread.send({ kind: 'bytes', id: this.#id, slab: this.#slab, bytes: this.#filled })
    this.#inFlight++
    this.#slab = -1
    this.#filled = 0
  }

  #end(): void {
    if (this.#slab !== -1) this.#thread.giveSlab(this.#slab)
    this.#slab = -1
    this.#filled = 0
    this.#thread.forget(this.#id)
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
