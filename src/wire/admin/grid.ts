import { invalid } from '../../base/fault.ts'
import type { PrintedPiece, TaskPage, TaskQuery, TaskView } from '../../model/grid-view.ts'
import { instanceNameProblem } from '../../model/instance-name.ts'
import { TASK_STATES, type TaskState } from '../../model/task-state.ts'
import * as proto from '../gen/windlass/grid/v1/grid.ts'
import { decodeWellFormed, type Shape } from '../messages/well-formed.ts'

/** The messages of windlass.grid.v1.GridAdmin that are about tasks. */
const MOST_LISTED = 100
const NAMED: Shape = { 1: 'text' }
const TASK: Shape = {
  ...Object.fromEntries([1, 2, 3, 4, 5, 7, 11, 14, 15].map((field) => [field, 'text' as const])),
  ...Object.fromEntries([6, 8, 9, 10, 12, 13].map((field) => [field, 'number' as const])),
}

export const taskQueryToProto = ({ instance, states, limit, cursor }: TaskQuery): Uint8Array =>
  proto.ListTasksRequest.encode({ instance, states, pageSize: limit, pageToken: cursor ?? '' }).finish()

export function taskQueryFromProto(bytes: Uint8Array): TaskQuery {
  const named = { name: 'ListTasksRequest', shape: { 1: 'text', 2: 'text', 3: 'number', 4: 'text' } } as const
  const { instance, states, pageSize, pageToken } = decodeWellFormed(proto.ListTasksRequest, bytes, named)
  const problem = instance === undefined ? undefined : instanceNameProblem(instance)
  if (problem !== undefined) throw invalid(`the instance name ${problem}`)
  if (pageSize < 0) throw invalid('page_size is negative')
  return {
    instance,
    states: [...new Set(states)].map(taskStateOf),
    limit: Math.min(pageSize || MOST_LISTED, MOST_LISTED),
    cursor: pageToken === '' ? undefined : pageToken,
  }
}

function taskStateOf(text: string): TaskState {
  const state = TASK_STATES.find((one) => one === text)
  if (state === undefined) throw invalid(`${JSON.stringify(text.slice(0, 60))} is no state of a task`)
  return state
}

export const taskPageToProto = ({ tasks, next }: TaskPage): Uint8Array =>
  proto.ListTasksResponse.encode({ tasks: tasks.map(taskProto), nextPageToken: next ?? '' }).finish()

export function taskPageFromProto(bytes: Uint8Array): TaskPage {
  const named = { name: 'ListTasksResponse', shape: { 1: TASK, 2: 'text' } } as const
  const { tasks, nextPageToken } = decodeWellFormed(proto.ListTasksResponse, bytes, named)
  return { tasks: tasks.map(viewOf), next: nextPageToken === '' ? undefined : nextPageToken }
}

/** The requests of Get, Explain and Cancel have one field, the name of the task. */
export const taskNameToProto = (name: string): Uint8Array => proto.GetTaskRequest.encode({ name }).finish()

export const taskNameFromProto = (bytes: Uint8Array): string =>
  decodeWellFormed(proto.GetTaskRequest, bytes, { name: 'request for a task', shape: NAMED }).name

export interface FollowRequest {
  readonly name: string
  /** Return the output that exists at the time of the call, and do not wait for more. */
  readonly once: boolean
}

export const followToProto = (request: FollowRequest): Uint8Array => proto.FollowOutputRequest.encode(request).finish()

export const followFromProto = (bytes: Uint8Array): FollowRequest =>
  decodeWellFormed(proto.FollowOutputRequest, bytes, {
    name: 'FollowOutputRequest',
    shape: { 1: 'text', 2: 'number' },
  })

/** The response of Get and Cancel. */
export const taskToProto = (task: TaskView): Uint8Array =>
  proto.GetTaskResponse.encode({ task: taskProto(task) }).finish()

export function taskFromProto(bytes: Uint8Array): TaskView {
  const { task } = decodeWellFormed(proto.GetTaskResponse, bytes, { name: 'GetTaskResponse', shape: { 1: TASK } })
  if (task === undefined) throw invalid('there is no task in a GetTaskResponse')
  return viewOf(task)
}

export const reasonsToProto = (reasons: readonly string[]): Uint8Array =>
  proto.ExplainTaskResponse.encode({ reasons }).finish()

export const reasonsFromProto = (bytes: Uint8Array): readonly string[] =>
  decodeWellFormed(proto.ExplainTaskResponse, bytes, { name: 'ExplainTaskResponse', shape: NAMED }).reasons

export const printedToProto = ({ stream, bytes, attempt, missed }: PrintedPiece): Uint8Array =>
  proto.FollowOutputResponse.encode({ data: bytes, isError: stream === 'stderr', attempt, missed }).finish()

export function printedFromProto(bytes: Uint8Array): PrintedPiece {
  const shape = { 1: 'bytes', 2: 'number', 3: 'number', 4: 'number' } as const
  const from = decodeWellFormed(proto.FollowOutputResponse, bytes, { name: 'FollowOutputResponse', shape })
  const { data, isError, attempt, missed } = from
  if (missed < 0) throw invalid('a piece of output has a negative number of missed bytes')
  return { stream: isError ? 'stderr' : 'stdout', bytes: data, attempt, missed }
}

const taskProto = (task: TaskView): proto.Task => ({
  ...task,
  worker: task.worker ?? '',
  startedAt: task.startedAt ?? 0,
  endedAt: task.endedAt ?? 0,
  actionDigest: task.actionDigest ?? '',
})

const given = <T>(value: T): T | undefined => (value ? value : undefined)

/** For clients. Throws for a task state that only newer servers have. */
const viewOf = (from: proto.Task): TaskView => ({
  ...from,
  state: taskStateOf(from.state),
  worker: given(from.worker),
  startedAt: given(from.startedAt),
  endedAt: given(from.endedAt),
  actionDigest: given(from.actionDigest),
  exitCode: from.exitCode,
})
