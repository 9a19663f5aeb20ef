import type { CacheId } from '../table/behaviours.ts'
import type { Break } from './break.ts'
import { getResultBreaks, updateResultBreaks } from './breaks-action-cache.ts'
import { capabilitiesBreaks } from './breaks-capabilities.ts'
import { batchReadBreaks, batchUpdateBreaks, findMissingBreaks } from './breaks-cas.ts'
import { digestBreaks } from './breaks-digests.ts'
import { emptyBreaks } from './breaks-empty.ts'
import { malformedResultBreaks } from './breaks-malformed.ts'
import { nameBreaks } from './breaks-names.ts'
import { readBreaks } from './breaks-read.ts'
import { spliceBreaks, splitBreaks, treeBreaks } from './breaks-trees.ts'
import { queryBreaks, writeBreaks } from './breaks-write.ts'
import { compressedWriteBreaks } from './breaks-write-compressed.ts'

/** One defect for every behaviour of a cache: it proves that the check can fail. */
export const BREAKS: Readonly<Record<CacheId, Break>> = {
  ...capabilitiesBreaks,
  ...digestBreaks,
  ...emptyBreaks,
  ...nameBreaks,
  ...readBreaks,
  ...writeBreaks,
  ...compressedWriteBreaks,
  ...queryBreaks,
  ...findMissingBreaks,
  ...batchUpdateBreaks,
  ...batchReadBreaks,
  ...treeBreaks,
  ...splitBreaks,
  ...spliceBreaks,
  ...getResultBreaks,
  ...updateResultBreaks,
  ...malformedResultBreaks,
}
