import type { Value, ValueRecord } from '../values/value.ts'

/** The variables that an expression can read. */
export interface ExpressionContext {
  readonly inputs: ValueRecord
  readonly self: Value
  readonly runtime: ValueRecord
}

export interface Script {
  /** A JavaScript expression, or the body of a function when `isBody`. */
  readonly code: string
  readonly isBody: boolean
  /** Sources that run first: `expressionLib`. */
  readonly library: readonly string[]
  readonly context: ExpressionContext
}

/**
 * Runs JavaScript from untrusted documents. Rejects with an error that names the reason; undefined is returned as null.
 */
export interface Expressions {
  run(script: Script): Promise<Value>
}
