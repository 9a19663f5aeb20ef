import type { ExecutionId } from '../../table/behaviours.ts'
import { cacheBreaks } from './breaks-cache.ts'
import { executeBreaks } from './breaks-execute.ts'
import { commandBreaks, inputBreaks, outputBreaks } from './breaks-files.ts'
import { logStreamBreaks, metadataBreaks, operationBreaks, waitBreaks } from './breaks-operations.ts'
import { refusalBreaks } from './breaks-refusals.ts'
import { timeoutBreaks } from './breaks-timeouts.ts'
import type { Detour } from './detour.ts'

/** One defect for every behaviour of execution: it proves that the check can fail. */
export const EXECUTION_BREAKS: Readonly<Record<ExecutionId, Detour>> = {
  ...executeBreaks,
  ...cacheBreaks,
  ...refusalBreaks,
  ...timeoutBreaks,
  ...commandBreaks,
  ...inputBreaks,
  ...outputBreaks,
  ...metadataBreaks,
  ...waitBreaks,
  ...operationBreaks,
  ...logStreamBreaks,
}
