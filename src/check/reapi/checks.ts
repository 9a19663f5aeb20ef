import { getResultChecks } from './cache/action-cache-get.ts'
import { malformedResultChecks } from './cache/action-cache-malformed.ts'
import { updateResultChecks } from './cache/action-cache-update.ts'
import { advertisedWorksChecks } from './cache/advertised-works.ts'
import { interruptedChecks } from './cache/bytestream-interrupted.ts'
import { readChecks } from './cache/bytestream-read.ts'
import { compressedReadChecks } from './cache/bytestream-read-compressed.ts'
import { writeChecks } from './cache/bytestream-write.ts'
import { compressedWriteChecks } from './cache/bytestream-write-compressed.ts'
import { capabilitiesChecks } from './cache/capabilities.ts'
import { batchReadChecks } from './cache/cas-batch-read.ts'
import { batchUpdateChecks } from './cache/cas-batch-update.ts'
import { findMissingChecks } from './cache/cas-find-missing.ts'
import { digestMistakeChecks } from './cache/digest-mistakes.ts'
import { digestChecks } from './cache/digests.ts'
import { emptyChecks } from './cache/empty.ts'
import { resourceNameChecks } from './cache/resource-names.ts'
import { spliceChecks, splitChecks } from './cache/split-splice.ts'
import { treeChecks } from './cache/trees.ts'
import { EXECUTION_CHECKS } from './execution/execution-checks.ts'
import type { Check } from './probe/probe.ts'
import type { BehaviourId } from './table/behaviours.ts'

/** One check for every behaviour: the type requires all of them. */
export const CHECKS: Readonly<Record<BehaviourId, Check>> = {
  ...capabilitiesChecks,
  ...advertisedWorksChecks,
  ...digestChecks,
  ...digestMistakeChecks,
  ...emptyChecks,
  ...resourceNameChecks,
  ...readChecks,
  ...compressedReadChecks,
  ...writeChecks,
  ...interruptedChecks,
  ...compressedWriteChecks,
  ...findMissingChecks,
  ...batchUpdateChecks,
  ...batchReadChecks,
  ...treeChecks,
  ...splitChecks,
  ...spliceChecks,
  ...getResultChecks,
  ...updateResultChecks,
  ...malformedResultChecks,
  ...EXECUTION_CHECKS,
}
