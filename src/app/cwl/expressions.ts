import {
  type ExpressionLimits,
  type ExpressionPool,
  expressionPool,
} from '../../workflow/expressions/expression-pool.ts'
import { systemClock } from '../process/clock.ts'

const SOURCE = new URL('./expression-thread.ts', import.meta.url)
/** The same file in the published package. */
const FILE = import.meta.url.endsWith('.ts') ? SOURCE : new URL(SOURCE.href.replace(/\.ts$/, '.js'))

/** Limits for a workflow that its own user runs on this machine, without other users. */
export const OWN_LIMITS: ExpressionLimits = {
  expressionMs: 20_000,
  submissionMs: Number.POSITIVE_INFINITY,
  valueBytes: 16 << 20,
}

/** Opens the threads for JavaScript expressions; none starts before the first expression. */
export const openExpressions = (limits: ExpressionLimits): ExpressionPool =>
  expressionPool({ file: FILE, limits, clock: systemClock })
