import type { OperationStatus } from '../../engine/status.ts'
import type { Submission } from '../../engine/submission.ts'
import type { PlatformProperty } from '../../model/command.ts'
import {
  blobsReadBy,
  type CommandOrigin,
  type CommandResult,
  type CommandTask,
  isInteractive,
  PLACES_PROPERTY,
} from '../../model/command-task.ts'
import { IMAGE_PROPERTY } from '../../model/image-need.ts'
import { INTERACTIVE_PROPERTY } from '../../model/live-input.ts'
import { NETWORK_PROPERTY } from '../../model/network-grants.ts'
import type { TaskForm } from '../../model/task-form.ts'
import { commandKeyOf } from '../../wire/tasks/command-key.ts'
import { commandTaskFromProto, commandTaskToProto } from '../../wire/tasks/command-task.ts'
import { commandResultFromProto } from '../../wire/tasks/command-task-result.ts'
import { platformNeeds } from './platform-needs.ts'
import { needing, plainestForm } from './task-form-need.ts'

type FromTask = 'origin' | 'spec' | 'roots' | 'actionKey' | 'cacheable'

/** What the task itself does not say. */
export interface CommandOrder extends Omit<Submission, FromTask> {
  readonly origin: CommandOrigin
  /** What else changes the result, such as the version of a compiler: part of the key of a task that may be cached. */
  readonly salt?: string
  /** Who must understand it; by what is in the task unless said. */
  readonly form?: TaskForm
}

/** Beyond the time of its stages, for what is done between them. */
const BETWEEN_STAGES_MS = 1000

/** A command task as the grid takes it. Throws `invalid` for one that nobody could run. */
export function commandSubmission(
  task: CommandTask,
  { salt, form = plainestForm(task), ...order }: CommandOrder,
): Submission {
  const timeoutMs = wholeTime(task)
  return {
    ...needing(form, platformNeeds([...task.platform, ...roomNeeds(task, form), ...typingNeed(task)])),
    ...(task.inputs.root && { affinity: [task.inputs.root.hash] }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...order,
    ...(isInteractive(task) && { interactive: true }),
    spec: commandTaskToProto(task),
    roots: blobsReadBy(task),
    ...(task.cacheable && { actionKey: commandKeyOf(task, salt), cacheable: true }),
  }
}

/**
 * Workers offer the level of their rooms, and all below it, and whether those can be of an image. One that was written
 * for snippets alone says nothing of its rooms: whoever lets it in answers for them.
 */
const roomNeeds = (
  { isolation, image, platform, stages, places = [] }: CommandTask,
  form: TaskForm,
): PlatformProperty[] => [
  ...(isolation === 'none' || form === 'snippet' ? [] : [{ name: 'isolation', value: isolation }]),
  ...(image === undefined || platform.some(({ name }) => name === IMAGE_PROPERTY)
    ? []
    : [{ name: IMAGE_PROPERTY, value: image }]),
  ...(stages.some(({ network }) => network) ? [{ name: NETWORK_PROPERTY, value: 'yes' }] : []),
  ...(places.length === 0 ? [] : [{ name: PLACES_PROPERTY, value: 'yes' }]),
]

/** Not every way to a worker carries what is typed. */
const typingNeed = (task: CommandTask): PlatformProperty[] =>
  isInteractive(task) ? [{ name: INTERACTIVE_PROPERTY, value: 'yes' }] : []

/** Undefined when one of the stages may take for ever. */
function wholeTime({ stages }: CommandTask): number | undefined {
  let sum = 0
  for (const { limits } of stages) sum += (limits.wallMs ?? Number.POSITIVE_INFINITY) + BETWEEN_STAGES_MS
  return Number.isFinite(sum) ? sum : undefined
}

/** What came of a command task; undefined when it is not over, or has no result. */
export function commandResultOf({ spec, end }: OperationStatus): CommandResult | undefined {
  return end?.result && commandResultFromProto(end.result, commandTaskFromProto(spec).fn)
}
