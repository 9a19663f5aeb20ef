import { type Heaped, LazyHeap } from '../shares/lazy-heap.ts'
import { catchUp, type InvocationState, servedOf } from '../shares/shares.ts'
import type { InstanceQueue } from './instance-queue.ts'
import type { Task } from './task.ts'

/** With more strands than this, the one of an invocation is looked up and not looked for. */
const MOST_LOOKED_THROUGH = 64

/** All tasks of one priority in a line, a strand for each invocation: that whose invocation was served least is next. */
export class PriorityLevel extends LazyHeap<InvocationQueue> {
  readonly instanceQueue: InstanceQueue
  readonly priority: number
  queued = 0
  /** When the task that last went from it was accepted; before one has, the first that came. */
  #since: number
  #byInvocation: Map<InvocationState, InvocationQueue> | undefined

  constructor(instanceQueue: InstanceQueue, { priority, acceptedAt }: Task) {
    super(instanceQueue.instance.ledger)
    this.instanceQueue = instanceQueue
    this.priority = priority
    this.#since = acceptedAt
    this.#byInvocation = undefined
  }

  /**
   * Lower goes sooner. How long its next task has waited is taken from the last one that went, which came just before
   * it: a level that is passed over stays where it is while the others move on, and nothing has to be looked up.
   */
  get rank(): number {
    return this.priority * this.instanceQueue.pool.agingMs + this.#since
  }

  /** Whether that changed its rank. */
  gone({ acceptedAt }: Task): boolean {
    if (acceptedAt <= this.#since) return false
    this.#since = acceptedAt
    return true
  }

  invocationQueueFor({ invocation }: Task): InvocationQueue {
    // One that had nothing waiting begins beside those that wait, neither ahead of them nor behind.
    if (invocation.queued === 0) {
      const next = this.first()
      catchUp(invocation, next === undefined ? invocation.instance.clock : servedOf(next.invocation))
    }
    const known = this.#find(invocation)
    if (known !== undefined) return known
    const made = new InvocationQueue(this, invocation)
    this.#byInvocation?.set(invocation, made)
    return made
  }

  protected override dropped(invocationQueue: InvocationQueue): void {
    if (this.#byInvocation === undefined) return
    this.#byInvocation.delete(invocationQueue.invocation)
    if (this.size < MOST_LOOKED_THROUGH / 2) this.#byInvocation = undefined
  }

  #find(invocation: InvocationState): InvocationQueue | undefined {
    if (this.#byInvocation === undefined && this.size > MOST_LOOKED_THROUGH)
      this.#byInvocation = new Map(this.items.map((invocationQueue) => [invocationQueue.invocation, invocationQueue]))
    if (this.#byInvocation !== undefined) return this.#byInvocation.get(invocation)
    // Numbers are given out again: another one's strand, long dry, may still be there under it.
    return this.withNumber(invocation.number, (invocationQueue) => invocationQueue.invocation === invocation)
  }
}

export class InvocationQueue implements Heaped {
  readonly level: PriorityLevel
  readonly invocation: InvocationState
  head: Task | undefined
  tail: Task | undefined
  heaped = false

  constructor(level: PriorityLevel, invocation: InvocationState) {
    this.level = level
    this.invocation = invocation
    this.head = undefined
    this.tail = undefined
  }

  get number(): number {
    return this.invocation.number
  }

  isEmpty(): boolean {
    return this.head === undefined
  }
}
