/**
 * Turns facts into rows, many calls in one transaction. What all facts of a transaction do to a task is worked out in
 * memory first, and written once: a task that was accepted, leased and finished in one is a single insert.
 *
 * The writer knows where each open task stands, and nothing of those that are over. Drafts are copies, and take the
 * place of what is known only once the transaction is committed: one that fails leaves no trace here either.
 */
import type { StatementSync } from 'node:sqlite'
import { invalid } from '../../../base/fault.ts'
import type { Accepted, Fact, Finished, Joined, Left, TaskFact } from '../fact.ts'
import { applyFact, beginLife, CHANGED, type TaskLife } from '../task-life.ts'
import { type Database, type FactStatements, factStatements, type Ownership } from './fact-statements.ts'
import { isAboutFacts } from './sqlite-fault.ts'

/** A task that is open, under its key. */
export interface KnownTask {
  readonly key: number
  readonly life: TaskLife
}

interface Draft extends KnownTask {
  /** Set for a task that has no row yet. */
  readonly accepted: Accepted | undefined
  changed: number
}

export type Outcome = { readonly late: readonly string[] } | { readonly error: unknown }

export interface WriterOptions {
  readonly by: Ownership
  readonly open: Iterable<KnownTask>
  /** The mark stays this many tasks behind the newest: a task that ends sooner is never written as open. */
  readonly markDistance?: number
}

const MARK_DISTANCE = 32_768
/** It moves by this part of the distance at least, for it is a row to write as well. */
const MARK_STEP = 1 / 128

const NONE: Outcome = { late: [] }

export class FactWriter {
  readonly #db: Database
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #statements: FactStatements
  readonly #open: Map<string, KnownTask>
  /** Keys of open tasks from the mark on, in order. */
  readonly #young: Set<number>
  readonly #markDistance: number
  #mark: number
  #nextKey: number

  constructor(db: Database, { by, open, markDistance = MARK_DISTANCE }: WriterOptions) {
    this.#markDistance = markDistance
    this.#db = db
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#statements = factStatements(db, by)
    this.#open = new Map(Array.from(open, (known) => [known.life.task, known]))
    this.#mark = Number(db.prepare('SELECT at FROM mark').get()?.at)
    this.#young = new Set(Array.from(this.#open.values(), ({ key }) => key).filter((key) => key >= this.#mark))
    // Never below the mark, even when all rows there were deleted: open tasks below the mark have rows.
    this.#nextKey = Math.max(this.#mark, Number(db.prepare('SELECT max(key) AS key FROM tasks').get()?.key ?? 0) + 1)
  }

  /**
   * One outcome a call, in order. Where a call of several is itself at fault, each gets a transaction of its own, so
   * that only the guilty one fails; where the disk is, all of them do.
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
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK') // SQLite may have done so itself
      throw error
    }
    this.#mark = mark
    for (const key of grownOld) this.#young.delete(key)
    for (const { key, life, accepted } of batch.drafts.values()) {
      if (life.end === undefined) {
        this.#open.set(life.task, { key, life })
        if (accepted !== undefined) this.#young.add(key)
      } else {
        this.#open.delete(life.task)
        this.#young.delete(key)
      }
    }
    this.#nextKey = batch.nextKey
    return outcomes
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

/** What one transaction is going to write. */
class Batch {
  readonly drafts = new Map<string, Draft>()
  nextKey: number
  readonly #known: ReadonlyMap<string, KnownTask>
  readonly #operations: { readonly key: number; readonly fact: Joined | Left }[] = []
  readonly #late: Finished[] = []
  readonly #names: string[] = []

  constructor(known: ReadonlyMap<string, KnownTask>, nextKey: number) {
    this.#known = known
    this.nextKey = nextKey
  }

  /** Answers with the tasks whose end came too late. */
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
      if (changed & CHANGED.course) statements.updateCourse(key, life)
      if (changed & CHANGED.end) statements.end(key, life, key < mark)
    }
    for (const { key, fact } of this.#operations) {
      if (fact.kind === 'joined') statements.join(key, fact)
      else statements.leave(key, fact)
    }
    for (const fact of this.#late) statements.supersede(fact)
    for (const name of this.#names) statements.offer(name)
  }

  #accept(fact: Accepted): void {
    if (this.#draftOf(fact.task) !== undefined)
      throw invalid(`a task with the id ${fact.task} is open already`, 'exists')
    const draft = { key: this.nextKey++, life: beginLife(fact), accepted: fact, changed: CHANGED.nothing }
    this.drafts.set(fact.task, draft)
  }

  /** False when the task is not open, or the fact too late for it. */
  #apply(fact: Exclude<TaskFact, Accepted>): boolean {
    const draft = this.#draftOf(fact.task)
    if (draft === undefined || draft.life.end !== undefined) return false
    if (fact.kind === 'joined' || fact.kind === 'left') {
      this.#operations.push({ key: draft.key, fact })
      return true
    }
    const changed = applyFact(draft.life, fact)
    draft.changed |= changed
    return changed !== CHANGED.late
  }

  #draftOf(task: string): Draft | undefined {
    const begun = this.drafts.get(task)
    const known = begun ?? this.#known.get(task)
    if (begun !== undefined || known === undefined) return begun
    const draft = { key: known.key, life: { ...known.life }, accepted: undefined, changed: CHANGED.nothing }
    this.drafts.set(task, draft)
    return draft
  }
}
