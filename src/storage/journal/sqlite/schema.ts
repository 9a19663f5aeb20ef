import type { DatabaseSync } from 'node:sqlite'
import { FaultError } from '../../../base/fault.ts'
import type { FinalState, TaskState } from '../../../model/task-state.ts'

/** The stored codes of states. Never renumber them. */
export const STATE_CODES = {
  pending: 0,
  queued: 1,
  assigned: 2,
  running: 3,
  stopping: 4,
  retrying: 5,
  completed: 6,
  failed: 7,
  timeout: 8,
  cancelled: 9,
} as const satisfies Record<TaskState, number>

const STATES = Object.keys(STATE_CODES) as TaskState[]
export const stateOf = (code: number): TaskState => STATES[code] as TaskState
export const finalStateOf = (code: number): FinalState => STATES[code] as FinalState

/**
 * One migration from each version of the schema to the next. A released migration is never edited.
 *
 * Rows are appended and rarely updated. Keys are integers in the order of arrival. The progress of a task is written to
 * other tables, not to its row: its newest standing (the state, and the lease if there is one), and its end. A task has
 * one end, because the primary key of `ends` is the task's key. Measured with 500 bytes of spec and of result: 8 µs and
 * 2.2 kB of log per task, and 15 µs and 3.2 kB with updates in place. Facts in the same transaction as the acceptance
 * are in the task's row. A reader prefers the end to the standing, and the standing to the row.
 *
 * There is no index of open tasks, because every short task would write it twice. Open tasks below the mark are in
 * `open`; those from the mark on are found by a scan. The mark follows the newest key at a distance.
 *
 * `words` is an inverted index for lists: it has a row for each label of a task, and one for each task that failed,
 * timed out, was cancelled or lost an operation. Tasks that complete and have no labels, such as most actions of a
 * build, write no row there. It covers the tasks from the key in `words_from` on. Older tasks are found by a scan until
 * they are forgotten, so that the migration does not read the history.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE owners (
     key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE tasks (
     key INTEGER PRIMARY KEY, owner INTEGER NOT NULL, epoch INTEGER NOT NULL, state INTEGER NOT NULL,
     task TEXT NOT NULL, operation TEXT NOT NULL, operation_left_at INTEGER,
     instance TEXT NOT NULL, invocation TEXT NOT NULL, origin TEXT NOT NULL, action_key TEXT,
     power INTEGER NOT NULL, priority INTEGER NOT NULL, accepted_at INTEGER NOT NULL, attempt INTEGER NOT NULL,
     worker TEXT, lease_epoch INTEGER, lease_counter INTEGER, leased_at INTEGER, started_at INTEGER,
     lost_workers TEXT, due INTEGER, requeue_reason TEXT, cancel_reason TEXT, cancel_at INTEGER,
     end_reason TEXT, ended_at INTEGER, note BLOB, result BLOB, spec BLOB NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX task_operation ON tasks (operation);
   CREATE TABLE standings (
     key INTEGER PRIMARY KEY, owner INTEGER NOT NULL, epoch INTEGER NOT NULL, state INTEGER NOT NULL,
     attempt INTEGER NOT NULL, worker TEXT, lease_epoch INTEGER, lease_counter INTEGER, leased_at INTEGER,
     started_at INTEGER
   ) STRICT;
   CREATE TABLE ends (
     key INTEGER PRIMARY KEY, owner INTEGER NOT NULL, epoch INTEGER NOT NULL, state INTEGER NOT NULL,
     reason TEXT NOT NULL, at INTEGER NOT NULL, result BLOB
   ) STRICT;
   CREATE TABLE open (key INTEGER PRIMARY KEY) STRICT;
   CREATE TABLE mark (at INTEGER NOT NULL) STRICT;
   INSERT INTO mark VALUES (1);
   CREATE TABLE operations (
     key INTEGER PRIMARY KEY, owner INTEGER NOT NULL, epoch INTEGER NOT NULL, task_key INTEGER NOT NULL,
     name TEXT NOT NULL UNIQUE, note BLOB, joined_at INTEGER NOT NULL, left_at INTEGER
   ) STRICT;
   CREATE INDEX operation_task ON operations (task_key);
   CREATE TABLE superseded (
     key INTEGER PRIMARY KEY, owner INTEGER NOT NULL, epoch INTEGER NOT NULL, task TEXT NOT NULL,
     state INTEGER NOT NULL, lease_epoch INTEGER, lease_counter INTEGER, reason TEXT NOT NULL, at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX superseded_task ON superseded (task);
   CREATE INDEX superseded_at ON superseded (at);`,
  `ALTER TABLE tasks ADD COLUMN faults INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE names_offered (name TEXT PRIMARY KEY, owner INTEGER NOT NULL, epoch INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE words (word TEXT NOT NULL, key INTEGER NOT NULL, PRIMARY KEY (word, key)) STRICT, WITHOUT ROWID;
   CREATE INDEX word_task ON words (key);
   CREATE TABLE words_from (at INTEGER NOT NULL) STRICT;
   INSERT INTO words_from SELECT COALESCE(max(key), 0) + 1 FROM tasks;`,
]

/** The entry in `words` of a task that ended other than completed, or that an operation has left. */
export const UNUSUAL = 'unusual'
/** The entry in `words` of a label. */
export const wordOf = (label: string): string => `label ${label}`

type Database = Pick<DatabaseSync, 'exec' | 'prepare'>

/** Migrates a database to the newest schema, each step in a transaction. Refuses a schema newer than this program. */
export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
  if (version > migrations.length) {
    const what =
      `the journal was written by a newer program (its schema is ${version}, this program knows ${migrations.length}): ` +
      'start that program, or give this one another data folder'
    throw new FaultError({ kind: 'unavailable', what })
  }
  for (const [step, sql] of migrations.slice(version).entries()) {
    db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${version + step + 1}; COMMIT`)
  }
}
