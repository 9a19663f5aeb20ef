import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { invalid } from '../../../base/fault.ts'
import type { Accepted, Finished, Joined, Left } from '../fact.ts'
import { isJustAccepted, type TaskLife } from '../task-life.ts'
import { STATE_CODES, UNUSUAL, wordOf } from './schema.ts'

export type Database = Pick<DatabaseSync, 'exec' | 'prepare' | 'isTransaction'>

/** The writing server and its epoch, stored in every row. */
export interface Ownership {
  readonly owner: number
  readonly epoch: number
}

/** The SQL statements of the writer, one function each. */
export interface FactStatements {
  insertTask(task: NewTaskRow): void
  /** Writes the state, and the lease if there is one. */
  stand(key: number, life: TaskLife): void
  raise(key: number, life: TaskLife): void
  updateCourse(key: number, life: TaskLife): void
  /** Writes the end of a task. A second end violates the primary key. `wasOld`: the task's key is below the mark. */
  end(key: number, life: TaskLife, wasOld: boolean): void
  join(key: number, fact: Joined): void
  leave(key: number, fact: Left): void
  label(key: number, labels: readonly string[]): void
  supersede(fact: Finished): void
  /** Ignores a name that is known. */
  offer(name: string): void
  /** Moves the mark. Open tasks below the mark have a row in `open`, so this adds rows for `open`. */
  moveMark(to: number, open: readonly number[]): void
}

export interface NewTaskRow {
  readonly key: number
  readonly fact: Accepted
  readonly life: TaskLife
}

/**
 * The owner and epoch never change while the server runs, so they are literals in the SQL: binding them would add
 * 100,000 calls per second.
 */
export const factStatements = (db: Database, by: Ownership): FactStatements => ({
  ...inserting(db, by),
  ...following(db, by),
  ...ofOperations(db, by),
})

/** The columns that every new task has a value for. */
const ACCEPTED =
  'owner, epoch, key, state, task, operation, instance, invocation, origin, action_key, power, note, accepted_at, spec'
/** The columns that only later facts fill. */
const LIVED =
  'worker, lease_epoch, lease_counter, leased_at, started_at, lost_workers, due, requeue_reason, cancel_reason, cancel_at, faults'
const ENDED = 'end_reason, ended_at, result'

const places = (columns: string): string => columns.replace(/\w+/g, '?')

function inserting(
  db: Database,
  { owner, epoch }: Ownership,
): Pick<FactStatements, 'insertTask' | 'supersede' | 'offer'> {
  const insertion = (columns: string): StatementSync =>
    db.prepare(
      `INSERT INTO tasks (${columns}) SELECT ${places(columns).replace('?, ?', `${owner}, ${epoch}`)}
       WHERE NOT EXISTS (SELECT 1 FROM operations WHERE name = ?)`,
    )
  // Most transactions contain the start of a task but not its end, so empty parameters are not bound.
  const arrival = insertion(`${ACCEPTED}, priority, attempt`)
  const whole = insertion(`${ACCEPTED}, priority, attempt, ${LIVED}, ${ENDED}`)
  const supersede = db.prepare(
    `INSERT INTO superseded (owner, epoch, task, state, lease_epoch, lease_counter, reason, at)
     VALUES (${owner}, ${epoch}, ?, ?, ?, ?, ?, ?)`,
  )
  const offer = db.prepare(`INSERT INTO names_offered VALUES (?, ${owner}, ${epoch}) ON CONFLICT DO NOTHING`)
  const index = indexing(db)
  return {
    offer: (name) => void offer.run(name),
    insertTask({ key, fact, life }) {
      const { task, operation, instance, invocation, origin, actionKey = null, note = null, at, spec } = fact
      const { priority, attempt, result = null } = life
      const state = STATE_CODES[life.state]
      const power = fact.durability === 'power' ? 1 : 0
      // biome-ignore format: in the order of the columns
      const { changes } =
        isJustAccepted(life)
          ? arrival.run(
              key, state, task, operation, instance, invocation, origin, actionKey, power, note, at, spec, priority, attempt, operation,
            )
          : whole.run(
              key, state, task, operation, instance, invocation, origin, actionKey, power, note, at, spec, priority, attempt,
              ...leaseIn(life), ...courseIn(life), life.end?.reason ?? null, life.end?.at ?? null, result, operation,
            )
      if (changes === 0) throw taken(operation)
      if (fact.labels !== undefined) index.labels(key, fact.labels)
      if (life.end !== undefined) index.end(key, life)
    },
    supersede({ task, state, fencing, reason, at }) {
      supersede.run(task, STATE_CODES[state], fencing?.epoch ?? null, fencing?.counter ?? null, reason, at)
    },
  }
}

function following(
  db: Database,
  { owner, epoch }: Ownership,
): Pick<FactStatements, 'stand' | 'raise' | 'updateCourse' | 'end' | 'label' | 'moveMark'> {
  const stand = db.prepare(`INSERT OR REPLACE INTO standings VALUES (?, ${owner}, ${epoch}, ?, ?, ?, ?, ?, ?, ?)`)
  const raise = db.prepare('UPDATE tasks SET priority = ? WHERE key = ?')
  const course = db.prepare(
    `UPDATE tasks SET lost_workers = ?, due = ?, requeue_reason = ?, cancel_reason = ?, cancel_at = ?,
       faults = ?
     WHERE key = ?`,
  )
  const end = db.prepare(`INSERT INTO ends VALUES (?, ${owner}, ${epoch}, ?, ?, ?, ?)`)
  const open = db.prepare('INSERT INTO open VALUES (?)')
  const close = db.prepare('DELETE FROM open WHERE key = ?')
  const mark = db.prepare('UPDATE mark SET at = ?')
  const index = indexing(db)
  return {
    stand: (key, life) => void stand.run(key, STATE_CODES[life.state], life.attempt, ...leaseIn(life)),
    raise: (key, life) => void raise.run(life.priority, key),
    updateCourse: (key, life) => void course.run(...courseIn(life), key),
    end(key, life, wasOld) {
      const { state, end: ending, result = null } = life
      end.run(key, STATE_CODES[state], ending?.reason ?? '', ending?.at ?? 0, result)
      index.end(key, life)
      if (wasOld) close.run(key)
    },
    label: index.labels,
    moveMark(to, keys) {
      for (const key of keys) open.run(key)
      mark.run(to)
    },
  }
}

function ofOperations(db: Database, { owner, epoch }: Ownership): Pick<FactStatements, 'join' | 'leave'> {
  const join = db.prepare(
    `INSERT INTO operations (owner, epoch, task_key, name, note, joined_at)
     SELECT ${owner}, ${epoch}, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE operation = ?)`,
  )
  const leaveFirst = db.prepare(
    'UPDATE tasks SET operation_left_at = ? WHERE key = ? AND operation = ? AND operation_left_at IS NULL',
  )
  const leaveJoined = db.prepare(
    'UPDATE operations SET left_at = ? WHERE name = ? AND task_key = ? AND left_at IS NULL',
  )
  const index = indexing(db)
  return {
    join(key, fact) {
      const { operation, note = null, at } = fact
      const { changes } = join.run(key, operation, note, at, operation)
      if (changes === 0) throw taken(operation)
      if (fact.labels !== undefined) index.labels(key, fact.labels)
    },
    leave(key, { operation, at }) {
      if (leaveFirst.run(at, key, operation).changes === 0) leaveJoined.run(at, operation, key)
      index.left(key)
    },
  }
}

/** Writes the `words` table, by which lists find tasks. */
function indexing(db: Database) {
  const index = db.prepare('INSERT OR IGNORE INTO words VALUES (?, ?)')
  return {
    labels(key: number, labels: readonly string[]): void {
      for (const label of labels) index.run(wordOf(label), key)
    },
    end(key: number, { state }: TaskLife): void {
      if (state !== 'completed') index.run(UNUSUAL, key)
    },
    left: (key: number): void => void index.run(UNUSUAL, key),
  }
}

const taken = (operation: string): Error => invalid(`an operation is already named ${operation}`, 'exists')

type Value = string | number | null

const leaseIn = ({ lease }: TaskLife): [Value, Value, Value, Value, Value] =>
  lease === undefined
    ? [null, null, null, null, null]
    : [lease.worker, lease.fencing.epoch, lease.fencing.counter, lease.at, lease.startedAt ?? null]

const courseIn = (life: TaskLife): [Value, Value, Value, Value, Value, Value] => [
  life.lostWorkers.length === 0 ? null : JSON.stringify(life.lostWorkers),
  life.due ?? null,
  life.requeueReason ?? null,
  life.cancel?.reason ?? null,
  life.cancel?.at ?? null,
  life.faults,
]
