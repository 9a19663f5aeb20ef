import { formatDigest } from '../../../base/digest-text.ts'
import { FaultError } from '../../../base/fault.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { TaskView } from '../../../model/grid-view.ts'
import { argvFromProto } from '../../../wire/admin/grid-command.ts'
import { viewActionResult } from '../../../wire/hot/action-result.ts'
import { actionOfSpec } from '../../../wire/tasks/task-spec.ts'

/**
 * The maximum number of arguments that are shown. Command lines of build tools are long, and a page lists 100 tasks.
 */
const MOST_ARGUMENTS = 32
const MOST_CHARS = 400

/** A task as operators see it, without the parts that cannot be decoded. */
export function taskView(status: OperationStatus): TaskView {
  const { operation, task, instance, origin, state, attempt, worker, acceptedAt, startedAt, end } = status
  return {
    ...{ operation, task, instance, origin, state, attempt, worker, acceptedAt, startedAt },
    endedAt: end?.at,
    reason: end?.what ?? '',
    cached: end?.cached ?? false,
    ...partsOf(status),
  }
}

type Parts = Pick<TaskView, 'exitCode' | 'command' | 'actionDigest'>
const NONE: Parts = { exitCode: undefined, command: [], actionDigest: undefined }

function partsOf({ origin, spec, end }: OperationStatus): Parts {
  const read = readable(() => actionOfSpec({ origin, spec }))
  if (read === undefined) return NONE
  const { actionDigest, inline } = read
  const { result } = end ?? {}
  return {
    exitCode:
      result && end?.state === 'completed'
        ? readable(() => viewActionResult(result, actionDigest.fn).exitCode)
        : undefined,
    command: inline === undefined ? [] : shortened(readable(() => argvFromProto(inline.command)) ?? []),
    actionDigest: formatDigest(actionDigest),
  }
}

/** Undefined for a spec or a result that cannot be decoded; other calls report that. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof FaultError) return undefined
    throw error
  }
}

function shortened(argv: readonly string[]): string[] {
  const shown: string[] = []
  let left = MOST_CHARS
  for (const argument of argv.slice(0, MOST_ARGUMENTS)) {
    if (left <= 0) break
    shown.push(argument.length <= left ? argument : `${argument.slice(0, left).toWellFormed()}…`)
    left -= argument.length
  }
  return shown
}
