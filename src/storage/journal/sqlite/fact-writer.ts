/**
 * Writes facts as rows, many calls in one transaction. The effect of all facts of a transaction on a task is computed
 * in memory first, and written once: a task that was accepted, leased and finished in one transaction is a single
 * insert.
 *
 * The writer has the state of each open task in memory, and nothing of ended ones. Drafts are copies, and replace that
 * state only after the commit: a transaction that fails changes nothing in memory either. For a task that was only
 * accepted, as most of 100,000 queued tasks, it has only the key: that takes 80 bytes instead of 450.
 */
import type { StatementSync } from 'node:sqlite'
import { invalid } from '../../../base/fault.ts'
import type { Accepted, Fact, Finished, Joined, Left, TaskFact } from '../fact.ts'
import { applyFact, beginLife, CHANGED, isJustAccepted, type TaskLife } from '../task-life.ts'
import { type Database, type FactStatements, factStatements, type Ownership } from './fact-statements.ts'
import { isAboutFacts } from './sqlite-fault.ts'

/** An open task and its key. */
export interface KnownTask {
  readonly key: number
  readonly life: TaskLife
}

interface Draft extends KnownTask {
  /** Set for a task without a row. */
  readonly accepted: Accepted | undefined
  changed: number
}

export type Outcome = { readonly late: readonly string[] } | { readonly error: unknown }

export interface WriterOptions {
  readonly by: Ownership
  readonly open: Iterable<KnownTask>
  /** The distance of the mark from the newest task, in tasks: a task that ends sooner never gets a row in `open`. */
  readonly markDistance?: number
}

const MARK_DISTANCE = 32_768
/** The mark moves by at least this share of the distance, because each move writes a row. */
const MARK_STEP = 1 / 128

const NONE: Outcome = { late: [] }

export class FactWriter {
  readonly #db: Database
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #statements: FactStatements
  /** Only the key, for a task that was only accepted. */
  readonly #open = new Map<string, KnownTask | number>()
  /** Keys of open tasks from the mark on, in order. */
  readonly #young = new Set<number>()
  readonly #markDistance: number
  #mark: number
  #nextKey: number

  constructor(db: Database, { by, open, markDistance = MARK_DISTANCE }: WriterOptions) {
    this.#markDistance = markDistance
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#statements = factStatements(db, by)
    this.#mark = Number(db.prepare('SELECT at FROM mark').get()?.at)
    for (const known of open) this.know(known)
    // Never below the mark, even when all rows there were deleted: open tasks below the mark have rows.
    this.#nextKey = Math.max(this.#mark, Number(db.prepare('SELECT max(key) AS key FROM tasks').get()?.key ?? 0) + 1)
  }

  /**
   * Returns one outcome per call, in order. When a call is invalid, each call gets its own transaction, so that only
   * the invalid one fails. When the disk fails, all calls fail.
   */
  write(calls: readonly (readonly Fact[])[]): Outcome[] {
    try {
      return this.#transact(calls)
    } catch (error) {
      if (calls.length > 1 && isAboutFacts(error)) return calls.flatMap((call) => this.write([call]))
      return calls.map(() => ({ error }))
    }
  }

  #transact(calls: readonly (readonly Fact[])[]): Outcome[] {
    const batch = new Batch(this.#open, this.#nextKey)
    const outcomes = calls.map((facts): Outcome => {
      const late = batch.add(facts)
      return late.length === 0 ? NONE : { late }
    })
    const old = this.#nextKey - this.#markDistance
    const mark = old - this.#mark >= this.#markDistance * MARK_STEP ? old : this.#mark
    const grownOld = mark === this.#mark ? [] : this.#youngBelow(mark)
    this.#begin.run()
    try {
      if (mark !== this.#mark) this.#statements.moveMark(mark, grownOld)
      batch.writeTo(this.#statements, mark)
      this.#commit.run()
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK') // SQLite may have rolled back already
      throw error
    }
    this.#mark = mark
    for (const key of grownOld) this.#young.delete(key)
    for (const { key, life } of batch.drafts.values()) {
      if (life.end === undefined) this.know({ key, life })
      else {
        this.#open.delete(life.task)
        this.#young.delete(key)
      }
    }
    this.#nextKey = batch.nextKey
    return outcomes
  }

  /** Adds an open task. Tasks are added in the order of their keys. */
  know({ key, life }: KnownTask): void {
    this.#open.set(life.task, isJustAccepted(life) ? key : { key, life })
    if (key >= this.#mark) this.#young.add(key)
  }

  #youngBelow(mark: number): number[] {
    const keys: number[] = []
    for (const key of this.#young) {
      if (key >= mark) break
      keys.push(key)
    }
    return keys
  }
}

/** The changes of one transaction. */
class Batch {
  readonly drafts = new Map<string, Draft>()
  nextKey: number
  readonly #known: ReadonlyMap<string, KnownTask | number>
  readonly #operations: { readonly key: number; readonly fact: Joined | Left }[] = []
  /** The labels of ends. */
  readonly #labelled: { readonly key: number; readonly labels: readonly string[] }[] = []
  readonly #late: Finished[] = []
  readonly #names: string[] = []

  constructor(known: ReadonlyMap<string, KnownTask | number>, nextKey: number) {
    this.#known = known
    this.nextKey = nextKey
  }

  /** Adds the facts of a call, and returns the tasks whose end came too late. */
  add(facts: readonly Fact[]): string[] {
    const late: string[] = []
    for (const fact of facts) {
      if (fact.kind === 'accepted') this.#accept(fact)
      else if (fact.kind === 'offered') this.#names.push(...fact.names)
      else if (!this.#apply(fact) && fact.kind === 'finished') {
        this.#late.push(fact)
        late.push(fact.task)
      }
    }
    return late
  }

  writeTo(statements: FactStatements, mark: number): void {
    for (const { key, life, accepted, changed } of this.drafts.values()) {
      if (accepted !== undefined) {
        statements.insertTask({ key, fact: accepted, life })
        continue
      }
      if (changed & CHANGED.lease) statements.stand(key, life)
      if (changed & CHANGED.priority) statements.raise(key, life)
      if (changed & CHANGED.course) statements.updateCourse(key, life)
      if (changed & CHANGED.end) statements.end(key, life, key < mark)
    }
    for (const { key, fact } of this.#operations) {
      if (fact.kind === 'joined') statements.join(key, fact)
      else statements.leave(key, fact)
    }
    for (const { key, labels } of this.#labelled) statements.label(key, labels)
    for (const fact of this.#late) statements.supersede(fact)
    for (const name of this.#names) statements.offer(name)
  }

  #accept(fact: Accepted): void {
    if (this.#draftOf(fact.task) !== undefined)
      throw invalid(`a task with the id ${fact.task} is open already`, 'exists')
    const draft = { key: this.nextKey++, life: beginLife(fact), accepted: fact, changed: CHANGED.nothing }
    this.drafts.set(fact.task, draft)
  }

  /** Returns false when the task is not open, or the fact came too late. */
  #apply(fact: Exclude<TaskFact, Accepted>): boolean {
    const draft = this.#draftOf(fact.task)
    if (draft === undefined || draft.life.end !== undefined) return false
    if (fact.kind === 'joined' || fact.kind === 'left') {
      this.#operations.push({ key: draft.key, fact })
      return true
    }
    const changed = applyFact(draft.life, fact)
    draft.changed |= changed
    if (changed === CHANGED.late) return false
    if (fact.kind === 'finished' && fact.labels !== undefined)
      this.#labelled.push({ key: draft.key, labels: fact.labels })
    return true
  }

  #draftOf(task: string): Draft | undefined {
    const begun = this.drafts.get(task)
    const known = begun ?? this.#known.get(task)
    if (begun !== undefined || known === undefined) return begun
    // The priority of a task that was only accepted is in its row; it is written again only when a fact changes it.
    const { key, life } =
      typeof known === 'number'
        ? { key: known, life: beginLife({ task, priority: 0 }) }
        : { ...known, life: { ...known.life } }
    const draft = { key, life, accepted: undefined, changed: CHANGED.nothing }
    this.drafts.set(task, draft)
    return draft
  }
}
