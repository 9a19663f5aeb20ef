import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Database } from './fact-statements.ts'

/** A database that reports each statement after it ran: the points at which a process could be killed. */
export const watched = (db: Database, ran: (sql: string) => void): Database => ({
  get isTransaction() {
    return db.isTransaction
  },
  exec(sql) {
    db.exec(sql)
    ran(sql)
  },
  prepare(sql) {
    const statement = db.prepare(sql)
    const run = (...values: SQLInputValue[]) => {
      const result = statement.run(...values)
      ran(sql)
      return result
    }
    return new Proxy(statement, {
      get: (target, name) => (name === 'run' ? run : bound(target, name)),
    })
  },
})

function bound(target: StatementSync, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target)
  return typeof value === 'function' ? value.bind(target) : value
}
