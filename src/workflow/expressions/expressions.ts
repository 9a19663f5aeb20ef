import type { Value, ValueRecord } from '../values/value.ts'

/** What an expression can see. */
export interface ExpressionContext {
  readonly inputs: ValueRecord
  readonly self: Value
  readonly runtime: ValueRecord
}

export interface Script {
  /** A JavaScript expression, or the body of a function when `isBody`. */
  readonly code: string
  readonly isBody: boolean
  /** Sources that are run first: `expressionLib`. */
  readonly library: readonly string[]
  readonly context: ExpressionContext
}

/** Runs JavaScript from untrusted documents. Rejects with a fault that names the reason; undefined is returned as null. */
export interface Expressions {
  run(script: Script): Promise<Value>
}
