import { FaultError, invalid } from '../../../base/fault.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { OutputListener } from '../../../engine/tasks/output-ring.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { Method, Outgoing, ServerStreamingMethod, UnaryMethod } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { TaskView } from '../../../model/grid-view.ts'
import {
  followFromProto,
  printedToProto,
  reasonsToProto,
  taskNameFromProto,
  taskPageToProto,
  taskQueryFromProto,
  taskToProto,
} from '../../../wire/admin/grid.ts'
import { parseOperationName } from '../../../wire/reapi/operation-name.ts'
import type { GridAdminOptions } from './options.ts'
import { quoted, searchTasks } from './search-tasks.ts'
import { taskView } from './task-view.ts'

/** The calls of GridAdmin that are about tasks. */
export const taskCalls = (options: GridAdminOptions): Record<string, Method> => ({
  ListTasks: listTasks(options),
  GetTask: getTask(options),
  ExplainTask: explainTask(options),
  CancelTask: cancelTask(options),
  FollowOutput: followOutput(options),
})

/** Longer than any name or id. */
const MOST_CHARS = 1500
/** Tasks of a page that are converted per turn of the event loop. */
const AT_ONCE = 16

const listTasks = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { instance, states, limit, cursor } = taskQueryFromProto(bytes)
    const query = { instance, states: states.length > 0 ? states : undefined, limit }
    const { operations, next } = await engine.listOperations(LOCAL_CALLER, query, cursor)
    const tasks: TaskView[] = []
    for (const status of operations) {
      tasks.push(taskView(status))
      if (tasks.length % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    return taskPageToProto({ tasks, next })
  },
})

const getTask = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  handle: async (bytes) => taskToProto(taskView(await findTask(taskNameFromProto(bytes), engine))),
})

const explainTask = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { operation } = await findTask(taskNameFromProto(bytes), engine)
    return reasonsToProto(await engine.why(LOCAL_CALLER, operation))
  },
})

const cancelTask = ({ engine }: GridAdminOptions): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const status = await findTask(taskNameFromProto(bytes), engine)
    await engine.cancel(LOCAL_CALLER, status.operation, {
      forAll: true,
      what: 'cancelled by an operator',
    })
    return taskToProto(taskView(status))
  },
})

/**
 * Streams the output of a task. The engine keeps the newest part: a slow reader misses some, and delays no other
 * reader.
 */
const followOutput = ({ engine, ending }: GridAdminOptions): ServerStreamingMethod => ({
  kind: 'serverStreaming',
  async handle(bytes, out, call) {
    const { name, once } = followFromProto(bytes)
    const { operation } = await findTask(name, engine)
    let wake: () => void = () => {}
    const onChange = (): void => wake()
    const listener = await engine.listenOutput(LOCAL_CALLER, operation, onChange)
    if (listener === undefined) return
    const ends = [call.signal, ending]
    for (const end of ends) end.addEventListener('abort', onChange)
    try {
      while (!(await sendAll(listener, out, ends)) && !once) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (ending.aborted) throw new FaultError({ kind: 'unavailable', what: 'the server is stopping' })
    } finally {
      for (const end of ends) end.removeEventListener('abort', onChange)
      listener.close()
    }
  },
})

/** Sends all pieces that are there; returns whether the output has ended. */
async function sendAll(listener: OutputListener, out: Outgoing, ends: readonly AbortSignal[]): Promise<boolean> {
  for (;;) {
    if (ends.some(({ aborted }) => aborted)) return true
    const piece = listener.next()
    if (piece === undefined) return listener.isEnded
    if (!out.write(printedToProto(piece))) await out.drained()
  }
}

/**
 * Finds a task by the name or the id of an operation, the id of a task, or the beginning of an id. A complete name or
 * id takes precedence.
 */
async function findTask(name: string, engine: Engine): Promise<OperationStatus> {
  if (name === '') throw invalid('the request names no task')
  if (name.length > MOST_CHARS) throw absent(name)
  const named = parseOperationName(name)
  const status = await engine.find(LOCAL_CALLER, named?.id ?? name)
  if (status !== undefined && (named === undefined || named.instance === status.instance)) return status
  const found = named === undefined ? await searchTasks(name, engine) : undefined
  if (found === undefined) throw absent(name)
  return found
}

const absent = (name: string): FaultError =>
  new FaultError({ kind: 'absent', what: `no task is named ${quoted(name)}, and none begins so` })
