import { Worker } from 'node:worker_threads'
import { FaultError } from '../../base/fault.ts'
import type { BulkPool } from './bulk-pool.ts'
import { inLists } from './in-lists.ts'
import { ThreadInspection } from './thread-inspection.ts'
import type { FromBulkThread, ToBulkThread } from './thread-messages.ts'

/** Large enough for few messages, small enough to overlap copying with hashing. */
const SLAB_BYTES = 256 * 1024
/** Slabs per thread, shared by all uploads. */
const MOST_SLABS = 64
/** With fewer free slabs than this, partly filled slabs are sent. */
const FEW_SLABS = 16

const SOURCE = new URL('./bulk-thread.ts', import.meta.url)
/** The path of the same file in the published package. */
const FILE = import.meta.url.endsWith('.ts') ? SOURCE : new URL(SOURCE.href.replace(/\.ts$/, '.js'))

/** One thread and its inspections. */
class BulkThread {
  readonly #worker = new Worker(FILE)
  readonly #inspections = new Map<number, ThreadInspection>()
  readonly #slabs: Uint8Array[] = []
  readonly #free: number[] = []
  readonly #waiting = new Set<ThreadInspection>()
  #ids = 0
  failure: FaultError | undefined

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (list: readonly FromBulkThread[]) => {
      for (const message of list) this.#hear(message)
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('the thread has ended')))
  }

  get load(): number {
    return this.#inspections.size
  }

  add(inspection: (id: number) => ThreadInspection): ThreadInspection {
    const id = ++this.#ids
    const added = inspection(id)
    this.#inspections.set(id, added)
    this.#keepAlive()
    return added
  }

  forget(id: number): void {
    const inspection = this.#inspections.get(id)
    this.#inspections.delete(id)
    if (inspection !== undefined) this.#waiting.delete(inspection)
    // The inspection may no longer need the slab that it waited for.
    this.#wakeWaiting()
    this.#keepAlive()
  }

  readonly send = inLists<ToBulkThread>((list) => this.#worker.postMessage(list), setImmediate)

  /** Returns a slab to fill, or -1: then `onSlab` is called later. */
  takeSlab(inspection: ThreadInspection): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#slabs.length === MOST_SLABS) {
      this.#waiting.add(inspection)
      return -1
    }
    const memory = new SharedArrayBuffer(SLAB_BYTES)
    const slab = this.#slabs.push(new Uint8Array(memory)) - 1
    this.send({ kind: 'slab', slab, memory })
    return slab
  }

  giveSlab(slab: number): void {
    this.#free.push(slab)
    this.#wakeWaiting()
  }

  get hasFewSlabs(): boolean {
    return MOST_SLABS - this.#slabs.length + this.#free.length < FEW_SLABS
  }

  #wakeWaiting(): void {
    const [first] = this.#waiting
    if (first === undefined || this.#free.length === 0) return
    this.#waiting.delete(first)
    first.onSlab()
  }

  slab(number: number): Uint8Array {
    return this.#slabs[number] as Uint8Array
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  /** An idle thread must not keep the process alive. */
  #keepAlive(): void {
    if (this.#inspections.size > 0) this.#worker.ref()
    else this.#worker.unref()
  }

  #hear(message: FromBulkThread): void {
    const inspection = this.#inspections.get(message.id)
    if (message.kind === 'used') {
      this.giveSlab(message.slab)
      inspection?.used()
    } else if (message.kind === 'found') inspection?.found(message)
    else inspection?.found(undefined)
  }

  #fail(error: unknown): void {
    this.failure ??= new FaultError({ kind: 'unavailable', what: 'a bulk thread has failed' }, error)
    for (const inspection of this.#inspections.values()) inspection.fail(this.failure)
    this.#inspections.clear()
  }
}

/** A pool of threads. Each blob is processed by one thread. A thread that fails is replaced. */
export function threadPool(threads: number): BulkPool {
  const pool: BulkThread[] = []
  const leastBusy = (): BulkThread => {
    for (let i = 0; i < threads; i++) {
      if (pool[i] === undefined || pool[i]?.failure !== undefined) pool[i] = new BulkThread()
      if (pool[i]?.load === 0) return pool[i] as BulkThread // starts no more threads than there are blobs
    }
    return pool.reduce((one, other) => (other.load < one.load ? other : one))
  }
  return {
    inspect(fn, form, maxSize) {
      const thread = leastBusy()
      return thread.add((id) => new ThreadInspection(thread, { kind: 'begin', id, fn, form, maxSize }))
    },
    async close() {
      await Promise.all(pool.map((thread) => thread.close()))
    },
  }
}
