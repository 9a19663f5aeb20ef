import type { Engine } from '../../../engine/engine.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { ServerCall, Service, UnaryMethod } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { ExecutionTools } from '../../../services/execution/execution-tools.ts'
import { findOperation } from '../../../services/execution/find-operation.ts'
import { operationNews } from '../../../services/execution/operation-news.ts'
import {
  listOperationsRequestFromProto,
  listOperationsResponse,
  operationRequestFromProto,
  waitOperationRequestFromProto,
} from '../../../wire/google/operations.ts'
import { ACTION_ORIGIN } from '../../../wire/tasks/task-spec.ts'
import { operationMessage, operationSummary } from './response.ts'

const MOST_LISTED = 100
/** Messages that are made in one loop turn: others wait no longer than that. */
const AT_ONCE = 16
const LONGEST_WAIT_MS = 10 * 60_000
const EMPTY = new Uint8Array()

/** Executions by name, for whoever looks after them. */
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
    if (status.end === undefined) lookIn(status.operation, tools.engine)
    return operationMessage(status, tools, call)
  },
})

/** Somebody who asks every now and then waits for it too, and it must not be given up for want of a stream. */
function lookIn(operation: string, engine: Engine): void {
  const leave = engine.watch(LOCAL_CALLER, operation, { told() {}, failed() {} })
  leave()
}

/** The newest first, those that are over included; of identical ones that share a run only the first. */
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

/** Only for who asks: others who wait for the same action keep it. */
const cancelOperation = ({ engine }: ExecutionTools): UnaryMethod => ({
  kind: 'unary',
  async handle(bytes) {
    const { operation } = await findOperation(operationRequestFromProto(bytes), engine, LOCAL_CALLER)
    await engine.cancel(LOCAL_CALLER, operation, { what: 'cancelled by its client' })
    return EMPTY
  },
})

/** Nobody waits for it any more: it goes on for as long as somebody else does. */
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
    const newest = found.end === undefined ? await overOrLate(found, { waitMs, call }, tools) : found
    return operationMessage(newest, tools, call)
  },
})

/** As it stands when it is over, or when the time is up. */
async function overOrLate(
  found: OperationStatus,
  { waitMs, call }: { waitMs: number; call: ServerCall },
  tools: ExecutionTools,
): Promise<OperationStatus> {
  const { clock } = tools
  const end = clock.monotonic() + waitMs
  let newest = found
  using news = operationNews(found.operation, tools, call.signal)
  while (newest.end === undefined) {
    const left = end - clock.monotonic()
    if (left <= 0) break
    newest = (await news.next(left)) ?? newest
  }
  return newest
}
