import type { Engine } from '../../../engine/engine.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { ServerCall, Service, UnaryMethod } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { findOperation, watchOperation } from '../../../services/execution/follow-operation.ts'
import {
  listOperationsRequestFromProto,
  listOperationsResponse,
  operationRequestFromProto,
  waitOperationRequestFromProto,
} from '../../../wire/reapi/operations.ts'
import { ACTION_ORIGIN } from '../../../wire/tasks/task-spec.ts'
import { actionDigestOf, operationMessages, operationSummary } from './response.ts'

const MOST_LISTED = 100
/** Messages that are encoded per turn of the event loop. */
const AT_ONCE = 16
const LONGEST_WAIT_MS = 10 * 60_000
const EMPTY = new Uint8Array()

/** Executions by name, for operators and for clients that do not stream. */
export const operationsService = (tools: ExecutionTools): Service => ({
  name: 'google.longrunning.Operations',
  methods: {
    GetOperation: getOperation(tools),
    ListOperations: listOperations(tools),
    CancelOperation: cancelOperation(tools),
    DeleteOperation: deleteOperation(tools),
    WaitOperation: waitOperation(tools),
  },
})

const getOperation = (tools: ExecutionTools): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes, call) {
    const status = await findOperation(operationRequestFromProto(bytes), tools.engine, LOCAL_CALLER)
    if (status.end === undefined) countAsWaiter(status.operation, tools.engine)
    return await operationMessages(status, tools, { call, actionDigest: actionDigestOf(status) })(status)
  },
})

/**
 * A client that polls counts as waiting for the task: the engine must not cancel the task because no stream is open.
 */
function countAsWaiter(operation: string, engine: Engine): void {
  const unwatch = engine.watch(LOCAL_CALLER, operation, { endOnly: true, notify() {}, failed() {} })
  unwatch()
}

/** Newest first, including ended operations. Of operations that share a task, only the first is listed. */
const listOperations = (tools: ExecutionTools): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { engine, instances } = tools
    const { instance, pageSize, pageToken } = listOperationsRequestFromProto(bytes)
    instances(instance)
    const limit = Math.min(MOST_LISTED, pageSize || MOST_LISTED)
    const { operations, next } = await engine.listOperations(
      LOCAL_CALLER,
      { instance, origin: ACTION_ORIGIN, limit },
      pageToken,
    )
    const listed: Uint8Array[] = []
    for (const status of operations) {
      listed.push(operationSummary(status, tools))
      if (listed.length % AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    return listOperationsResponse(listed, next ?? '')
  },
})

/** Cancels the operation of this client. The task continues while other operations share it. */
const cancelOperation = ({ engine }: ExecutionTools): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { operation } = await findOperation(operationRequestFromProto(bytes), engine, LOCAL_CALLER)
    await engine.cancel(LOCAL_CALLER, operation, { what: 'cancelled by its client' })
    return EMPTY
  },
})

/** The client no longer waits. The task continues while other clients wait for it. */
const deleteOperation = ({ engine }: ExecutionTools): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { operation } = await findOperation(operationRequestFromProto(bytes), engine, LOCAL_CALLER)
    await engine.leave(LOCAL_CALLER, operation)
    return EMPTY
  },
})

const waitOperation = (tools: ExecutionTools): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes, call) {
    const { name, timeoutMs = LONGEST_WAIT_MS } = waitOperationRequestFromProto(bytes)
    const found = await findOperation(name, tools.engine, LOCAL_CALLER)
    const waitMs = Math.min(timeoutMs, LONGEST_WAIT_MS)
    const newest = found.end === undefined ? await endOrTimeout(found, { waitMs, call }, tools) : found
    return await operationMessages(newest, tools, { call, actionDigest: actionDigestOf(newest) })(newest)
  },
})

/** The status at the end of the operation, or after `waitMs`. */
async function endOrTimeout(
  found: OperationStatus,
  { waitMs, call }: { waitMs: number; call: ServerCall },
  tools: ExecutionTools,
): Promise<OperationStatus> {
  const { clock } = tools
  const end = clock.monotonic() + waitMs
  let newest = found
  using changes = watchOperation(found, tools, call.signal)
  while (newest.end === undefined) {
    const left = end - clock.monotonic()
    if (left <= 0) break
    newest = (await changes.next(left)) ?? newest
  }
  return newest
}
