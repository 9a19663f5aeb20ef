import type { OperationStatus } from '../../engine/tasks/status.ts'
import type { TaskRequest } from '../../engine/tasks/task-request.ts'
import type { PlatformProperty } from '../../model/command.ts'
import {
  blobsReadBy,
  type CommandOrigin,
  type CommandResult,
  type CommandTask,
  isInteractive,
  PLACES_PROPERTY,
} from '../../model/command-task.ts'
import { INTERACTIVE_PROPERTY } from '../../model/live-input.ts'
import { IMAGE_PROPERTY, IMAGELESS_PROPERTY } from '../../model/properties/image-need.ts'
import { NETWORK_PROPERTY } from '../../model/properties/network-grants.ts'
import { TASK_FORM_PROPERTY, type TaskForm } from '../../model/properties/task-form.ts'
import { isAboutNetwork } from '../../wire/reapi/action.ts'
import { actionKeyOf } from '../../wire/tasks/action-key.ts'
import { commandKeyOf } from '../../wire/tasks/command-key.ts'
import { commandTaskFromProto } from '../../wire/tasks/command-task.ts'
import { commandResultFromProto } from '../../wire/tasks/command-task-result.ts'
import { type ACTION_ORIGIN, taskToSpec } from '../../wire/tasks/task-spec.ts'
import { platformNeeds } from './platform-needs.ts'

type FromTask = 'origin' | 'spec' | 'roots' | 'actionKey' | 'cacheable'

/** The parts of a request that the task itself does not contain. */
export interface TaskRequestOptions extends Omit<TaskRequest, FromTask> {
  readonly origin: CommandOrigin | typeof ACTION_ORIGIN
  /** Part of the cache key: it changes the result, such as the version of a compiler. */
  readonly salt?: string
  /** The form that workers must understand. If left out, the contents of the task determine it. */
  readonly form?: TaskForm
}

/** The time between stages that is added to the time of all stages. */
const BETWEEN_STAGES_MS = 1000

/** A task as the engine accepts it. Throws `invalid` for a task that no worker could run. */
export function commandTaskRequest(
  task: CommandTask,
  { salt, form = plainestForm(task), ...options }: TaskRequestOptions,
): TaskRequest {
  const timeoutMs = wholeTime(task)
  const spec = taskToSpec(task)
  return {
    ...needsOf(task, form),
    ...(task.inputs.root && { affinity: [task.inputs.root.hash] }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...options,
    ...(isInteractive(task) && { interactive: true }),
    spec,
    roots: blobsReadBy(task),
    ...(task.cacheable && { actionKey: keyOf(task, spec, salt), cacheable: true }),
  }
}

/** Tasks with the same key are merged, and share a result in the cache. */
const keyOf = ({ action, fn }: CommandTask, spec: Uint8Array, salt: string | undefined): string =>
  action === undefined ? commandKeyOf(spec, fn, salt) : actionKeyOf(action.digest)

/** The properties and amounts that a worker must offer. */
function needsOf(task: CommandTask, form: TaskForm): ReturnType<typeof platformNeeds> {
  const asked = task.action === undefined ? task.platform : task.platform.filter((each) => !isAboutNetwork(each))
  const { properties, demands } = asked.length === 0 ? NO_NEEDS : platformNeeds(asked)
  const needed = [...properties, ...roomNeeds(task, form)]
  const hasImage = needed.some(({ name }) => name === IMAGE_PROPERTY)
  return {
    properties: [
      ...needed,
      { name: TASK_FORM_PROPERTY, value: form },
      ...(hasImage ? [] : [{ name: IMAGELESS_PROPERTY, value: 'yes' }]),
    ],
    demands,
  }
}

const NO_NEEDS = { properties: [], demands: {} }

/** The form that most workers understand, by the contents of the task. */
function plainestForm({ stages, inputs, isolation, action }: CommandTask): TaskForm {
  if (action !== undefined) return 'action'
  const [stage, ...more] = stages
  const isPlain =
    stage !== undefined &&
    more.length === 0 &&
    stage.stdin === undefined &&
    inputs.root === undefined &&
    inputs.placed.length === 0 &&
    isolation === 'none'
  return isPlain ? 'plain' : 'command'
}

/**
 * Workers offer the level of their rooms and all lower levels, and whether they can make a room from an image. A worker
 * that runs only snippets does not report its rooms: the operator who registers it is responsible for them.
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
  // Not every worker protocol carries input while a task runs.
  ...(isInteractive({ stages }) ? [{ name: INTERACTIVE_PROPERTY, value: 'yes' }] : []),
]

/** Undefined when one of the stages has no time limit. */
function wholeTime({ stages }: CommandTask): number | undefined {
  let sum = 0
  for (const { limits } of stages) sum += (limits.wallMs ?? Number.POSITIVE_INFINITY) + BETWEEN_STAGES_MS
  return Number.isFinite(sum) ? sum : undefined
}

/** The result of a command task; undefined when the task has not ended, or has no result. */
export function commandResultOf({ spec, end }: OperationStatus): CommandResult | undefined {
  return end?.result && commandResultFromProto(end.result, commandTaskFromProto(spec).fn)
}
