import type { Check } from '../probe/probe.ts'
import type { ExecutionId } from '../table/behaviours.ts'
import { cacheChecks } from './cache-checks.ts'
import { commandChecks } from './command-checks.ts'
import { directoryChecks } from './directory-checks.ts'
import { executeChecks } from './execute-checks.ts'
import { inputChecks } from './input-checks.ts'
import { logStreamChecks } from './log-stream-checks.ts'
import { metadataChecks } from './metadata-checks.ts'
import { operationChecks } from './operation-checks.ts'
import { outputChecks } from './output-checks.ts'
import { refusalChecks } from './refusal-checks.ts'
import { timeoutChecks } from './timeout-checks.ts'
import { waitChecks } from './wait-checks.ts'

/** One check for every behaviour of execution. */
export const EXECUTION_CHECKS: Readonly<Record<ExecutionId, Check>> = {
  ...executeChecks,
  ...cacheChecks,
  ...refusalChecks,
  ...timeoutChecks,
  ...commandChecks,
  ...inputChecks,
  ...outputChecks,
  ...directoryChecks,
  ...metadataChecks,
  ...waitChecks,
  ...operationChecks,
  ...logStreamChecks,
}
