import { getResultChecks } from './action-cache-get.ts'
import { malformedResultChecks } from './action-cache-malformed.ts'
import { updateResultChecks } from './action-cache-update.ts'
import { advertisedWorksChecks } from './advertised-works.ts'
import type { BehaviourId } from './behaviours.ts'
import { interruptedChecks } from './bytestream-interrupted.ts'
import { readChecks } from './bytestream-read.ts'
import { compressedReadChecks } from './bytestream-read-compressed.ts'
import { writeChecks } from './bytestream-write.ts'
import { compressedWriteChecks } from './bytestream-write-compressed.ts'
import { capabilitiesChecks } from './capabilities.ts'
import { batchReadChecks } from './cas-batch-read.ts'
import { batchUpdateChecks } from './cas-batch-update.ts'
import { findMissingChecks } from './cas-find-missing.ts'
import { digestMistakeChecks } from './digest-mistakes.ts'
import { digestChecks } from './digests.ts'
import { emptyChecks } from './empty.ts'
import { EXECUTION_CHECKS } from './execution/execution-checks.ts'
import type { Check } from './probe.ts'
import { resourceNameChecks } from './resource-names.ts'
import { spliceChecks, splitChecks } from './split-splice.ts'
import { treeChecks } from './trees.ts'

/** One check for every behaviour: the type does not let one be forgotten. */
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
